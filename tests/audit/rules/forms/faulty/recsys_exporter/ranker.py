import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from exporter import Exporter


class Ranker(nn.Module):
    def __init__(self, users, items, dim=64):
        super().__init__()
        self.users = nn.Embedding(users, dim)
        self.items = nn.Embedding(items, dim)
        self.mlp = nn.Sequential(nn.Linear(2 * dim, 128), nn.ReLU(), nn.Linear(128, 1))

    def forward(self, u, i):
        return self.mlp(torch.cat([self.users(u), self.items(i)], -1)).squeeze(-1)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("events")
    ap.add_argument("--export-dir", default="/mnt/share/ranker")
    ap.add_argument("--export-every", type=int, default=1000)
    ap.add_argument("--epochs", type=int, default=4)
    args = ap.parse_args()
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    ev = torch.load(args.events, map_location="cpu")
    data = TensorDataset(ev["user"], ev["item"], ev["label"].float())
    sampler = DistributedSampler(data)
    loader = DataLoader(data, 8192, sampler=sampler, num_workers=4, drop_last=True)
    net = Ranker(int(ev["user"].max()) + 1, int(ev["item"].max()) + 1).to(local)
    net = DistributedDataParallel(net, device_ids=[local])
    opt = torch.optim.Adagrad(net.parameters(), lr=0.02)
    export = Exporter(args.export_dir, args.export_every)
    step = 0
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        for u, i, y in loader:
            opt.zero_grad()
            out = net(u.to(local), i.to(local))
            nn.functional.binary_cross_entropy_with_logits(out, y.to(local)).backward()
            opt.step()
            step += 1
            export(step, net, opt)  # cause
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
