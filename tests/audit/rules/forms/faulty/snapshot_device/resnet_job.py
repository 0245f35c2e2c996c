import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from snapshot import SnapshotStore


class Residual(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.f = nn.Sequential(nn.Conv2d(c, c, 3, padding=1), nn.GroupNorm(8, c), nn.ReLU(), nn.Conv2d(c, c, 3, padding=1))

    def forward(self, x):
        return torch.relu(x + self.f(x))


def build_net(classes):
    stem = nn.Conv2d(3, 64, 7, stride=2, padding=3)
    return nn.Sequential(stem, *[Residual(64) for _ in range(6)], nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, classes))


def train(args, device):
    blob = torch.load(args.data, map_location="cpu")
    ds = TensorDataset(blob["x"], blob["y"])
    sampler = DistributedSampler(ds, drop_last=True)
    loader = DataLoader(ds, batch_size=args.batch, sampler=sampler, num_workers=2, pin_memory=True)
    model = DDP(build_net(args.classes).to(device), device_ids=[device.index])
    opt = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9, nesterov=True)
    store = SnapshotStore(args.snapshot, device)
    start = store.restore(model, opt) if store.exists() else 0
    for epoch in range(start, args.epochs):
        sampler.set_epoch(epoch)
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x.to(device, non_blocking=True)), y.to(device, non_blocking=True))
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
        store.write(model, opt, epoch)
        if dist.get_rank() == 0:
            print(f"epoch {epoch} done, loss {loss.item():.3f}")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--data", required=True)
    ap.add_argument("--snapshot", default="snapshot.pt")
    ap.add_argument("--classes", type=int, default=200)
    ap.add_argument("--batch", type=int, default=64)
    ap.add_argument("--lr", type=float, default=0.1)
    ap.add_argument("--epochs", type=int, default=90)
    args = ap.parse_args()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl")
    train(args, device)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
