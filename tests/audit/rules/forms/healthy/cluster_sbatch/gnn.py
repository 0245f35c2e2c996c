import argparse
import os
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler


class Steps(Dataset):
    def __init__(self, root):
        self.files = sorted(Path(root).glob("*.pt"))

    def __len__(self):
        return len(self.files) - 1

    def __getitem__(self, i):
        return tuple(torch.load(f, map_location="cpu") for f in self.files[i:i + 2])


class Mixer(nn.Module):
    def __init__(self, channels, width=256):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(channels, width), nn.SiLU(), nn.Linear(width, channels))

    def forward(self, x):
        return x + self.net(x)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=10)
    args = ap.parse_args()
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    data = Steps(os.environ["WEATHER_DATA"])
    sampler = DistributedSampler(data)
    loader = DataLoader(data, 1, sampler=sampler, num_workers=6)
    net = DistributedDataParallel(Mixer(data[0][0].shape[-1]).to(local), device_ids=[local])
    opt = torch.optim.AdamW(net.parameters(), 1e-4)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        for now, nxt in loader:
            opt.zero_grad()
            nn.functional.mse_loss(net(now.to(local)), nxt.to(local)).backward()
            opt.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
