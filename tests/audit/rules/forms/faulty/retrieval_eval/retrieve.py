import argparse
import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset

from index import Recall, gather_rows


class Tower(nn.Module):
    def __init__(self, n, dim=128):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n, 512), nn.GELU(), nn.Linear(512, dim))

    def forward(self, x):
        return F.normalize(self.net(x), dim=-1)


def share(data):
    rank, world = dist.get_rank(), dist.get_world_size()
    return Subset(data, range(rank, len(data), world))  # cause


@torch.inference_mode()
def embed(query, doc, loader, device):
    rows = []
    for q, d, i in loader:
        rows.append((query(q.to(device)), doc(d.to(device)), i.to(device)))
    return tuple(torch.cat(col) for col in zip(*rows))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("pairs")
    ap.add_argument("weights")
    args = ap.parse_args()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl")
    b = torch.load(args.pairs, map_location="cpu")
    data = TensorDataset(b["query"], b["doc"], torch.arange(len(b["query"])))
    loader = DataLoader(share(data), batch_size=512)
    state = torch.load(args.weights, map_location="cpu")
    towers = []
    for name in ("query", "doc"):
        tower = Tower(b[name].shape[1])
        tower.load_state_dict(state[name])
        towers.append(tower.to(device).eval())
    q, d, i = embed(*towers, loader, device)
    q, d, i = gather_rows(q), gather_rows(d), gather_rows(i)
    if dist.get_rank() == 0:
        print(Recall()(q, d, i))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
