import argparse

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from gradsync import BucketedReducer


class WideNet(nn.Module):
    def __init__(self, n_in, width, depth):
        super().__init__()
        dims = [n_in] + [width] * depth
        self.hidden = nn.ModuleList(nn.Linear(a, b) for a, b in zip(dims, dims[1:]))
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        for layer in self.hidden:
            x = torch.relu(layer(x))
        return self.out(x).squeeze(-1)


def sync_weights(model):
    for p in model.state_dict().values():
        dist.broadcast(p, src=0)


def train(args):
    blob = torch.load(args.data, map_location="cpu")
    ds = TensorDataset(blob["x"], blob["y"])
    sampler = DistributedSampler(ds, drop_last=True)
    model = WideNet(blob["x"].size(1), args.width, args.depth)
    sync_weights(model)
    opt = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    reducer = BucketedReducer(model.parameters())
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        for x, y in DataLoader(ds, args.bs, sampler=sampler):
            opt.zero_grad()
            loss = nn.functional.mse_loss(model(x), y)
            loss.backward()
            reducer.reduce()
            opt.step()
        if dist.get_rank() == 0:
            print(f"epoch {epoch} loss {loss.item():.5f}")


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--data", required=True)
    ap.add_argument("--width", type=int, default=4096)
    ap.add_argument("--depth", type=int, default=6)
    ap.add_argument("--bs", type=int, default=512)
    ap.add_argument("--lr", type=float, default=1e-2)
    ap.add_argument("--epochs", type=int, default=20)
    ns = ap.parse_args()
    dist.init_process_group("gloo")
    train(ns)
    dist.destroy_process_group()
