import argparse
import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

from featurize import Spectrograms


class KeywordNet(nn.Module):
    def __init__(self, bins=513, classes=35):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv1d(bins, 256, 5, stride=2), nn.GroupNorm(8, 256), nn.ReLU(), nn.Conv1d(256, 256, 5, stride=2), nn.ReLU()
        )
        self.fc = nn.Linear(256, classes)

    def forward(self, x):
        return self.fc(self.conv(x).mean(-1))


def build(args, device):
    data = Spectrograms(args.index, torch.device("cpu"))
    sampler = DistributedSampler(data, drop_last=True)
    loader = DataLoader(data, batch_size=args.batch_size, sampler=sampler, num_workers=args.workers, drop_last=True)
    model = DDP(KeywordNet().to(device), device_ids=[device.index])
    return loader, model


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("index")
    ap.add_argument("--batch-size", type=int, default=64)
    ap.add_argument("--workers", type=int, default=6)
    ap.add_argument("--epochs", type=int, default=40)
    args = ap.parse_args()
    dist.init_process_group("nccl")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    loader, model = build(args, device)
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for epoch in range(args.epochs):
        loader.sampler.set_epoch(epoch)
        for spec, label in loader:
            loss = F.cross_entropy(model(spec.to(device, non_blocking=True)), label.to(device, non_blocking=True))
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
        if dist.get_rank() == 0:
            print(epoch, loss.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
