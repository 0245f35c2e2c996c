import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler

from collecting import PredictionSink


class Keyed(Dataset):
    def __init__(self, path):
        blob = torch.load(path, map_location="cpu", weights_only=True)
        self.x, self.keys = blob["x"], blob["keys"]

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.keys[i]


def load_model(path, features, device):
    net = nn.Sequential(nn.Linear(features, 512), nn.ReLU(), nn.Linear(512, 1))
    net.load_state_dict(torch.load(path, map_location=device, weights_only=True))
    return net.to(device).eval()


@torch.inference_mode()
def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--data", required=True)
    ap.add_argument("--weights", required=True)
    ap.add_argument("--out", default="scores.jsonl")
    ap.add_argument("--batch-size", type=int, default=1024)
    args = ap.parse_args()
    local = int(os.environ["LOCAL_RANK"])
    device = torch.device("cuda", local)
    torch.cuda.set_device(device)
    dist.init_process_group("cpu:gloo,cuda:nccl")
    side = dist.new_group(backend="gloo")
    data = Keyed(args.data)
    loader = DataLoader(data, args.batch_size, sampler=DistributedSampler(data, shuffle=False))
    model = load_model(args.weights, data.x.shape[1], device)
    sink = PredictionSink(args.out, side)
    for x, keys in loader:
        sink.extend(keys, model(x.to(device)).squeeze(-1).cpu())
    written = sink.flush()
    if dist.get_rank() == 0:
        print(f"{written} rows -> {args.out}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
