import argparse
import contextlib

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from dataset import Remote, collate


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.c = nn.Sequential(nn.Conv2d(3, 16, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten())
        self.h, self.aux = nn.Linear(256, 3), nn.Linear(256, 4)

    def forward(self, x, rotate):
        z = self.c(x)
        return self.aux(z) if rotate else self.h(z)


def evaluate(net, loader):
    net.eval()
    hit = torch.zeros(2)
    with torch.no_grad():
        for x, y in loader:
            hit += torch.tensor([(net.module(x, False).argmax(1) == y).sum().item(), len(y)])
    net.train()
    dist.all_reduce(hit)
    return (hit[0] / hit[1]).item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=4)
    ap.add_argument("--accum", type=int, default=2)
    a = ap.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(12)
    train, test = Remote(1280, 1), Remote(320, 2)
    sam = DistributedSampler(train, seed=3)
    tl = DataLoader(train, 16, sampler=sam, num_workers=1, collate_fn=collate)
    vl = DataLoader(test, 32, sampler=DistributedSampler(test, shuffle=False), collate_fn=collate)
    net = DDP(Net(), find_unused_parameters=True)
    opt = torch.optim.AdamW(net.parameters(), lr=2e-3)
    for ep in range(a.epochs):
        sam.set_epoch(ep)
        for it, (x, y) in enumerate(tl):
            last = (it + 1) % a.accum == 0
            rotate = (it // a.accum) % 4 == 3
            if rotate:
                y = torch.randint(0, 4, (len(x),))
                x = torch.stack([torch.rot90(i, int(k), (1, 2)) for i, k in zip(x, y)])
            with contextlib.nullcontext() if last else net.no_sync():
                (nn.functional.cross_entropy(net(x, rotate), y) / a.accum).backward()
            if last:
                opt.step()
                opt.zero_grad()
        acc = evaluate(net, vl)
        if rank == 0:
            print(f"epoch {ep} acc {acc:.3f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
