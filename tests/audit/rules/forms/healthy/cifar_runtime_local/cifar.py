import argparse

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

from runtime import Runtime


def conv_block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1, bias=False), nn.GroupNorm(8, o), nn.ReLU(inplace=True), nn.MaxPool2d(2))


class Net(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.features = nn.Sequential(conv_block(3, 64), conv_block(64, 128), conv_block(128, 256))
        self.head = nn.Linear(256, classes)

    def forward(self, x):
        return self.head(self.features(x).mean((2, 3)))


def train(rt, args):
    blob = torch.load(args.data, map_location="cpu", weights_only=True)
    ds = TensorDataset(blob["x"], blob["y"])
    sampler = DistributedSampler(ds, drop_last=True)
    loader = DataLoader(ds, args.batch_size, sampler=sampler, num_workers=2, pin_memory=True, drop_last=True)
    model = DDP(Net().to(rt.device))
    opt = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9, weight_decay=5e-4)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, args.epochs)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        for x, y in loader:
            x, y = x.to(rt.device, non_blocking=True), y.to(rt.device, non_blocking=True)
            loss = nn.functional.cross_entropy(model(x), y)
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
        sched.step()
        mean = rt.mean(loss)
        if rt.main:
            print(epoch, mean.item())


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("data")
    ap.add_argument("--epochs", type=int, default=60)
    ap.add_argument("--batch-size", type=int, default=128)
    ap.add_argument("--lr", type=float, default=0.1)
    runtime = Runtime(seed=5)
    try:
        train(runtime, ap.parse_args())
    finally:
        runtime.close()
