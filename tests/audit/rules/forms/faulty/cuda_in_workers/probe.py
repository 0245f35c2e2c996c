import argparse
import glob
import os
from dataclasses import dataclass

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from featurecache import CachedFeatures


@dataclass
class LoaderCfg:
    batch_size: int = 512
    num_workers: int = 4  # cause
    persistent_workers: bool = True
    drop_last: bool = True


class Probe:
    def __init__(self, args, device):
        self.args, self.device = args, device
        cache_device = device  # cause
        ds = CachedFeatures(sorted(glob.glob(args.features)), cache_device, args.noise)  # cause
        self.sampler = DistributedSampler(ds, shuffle=True, drop_last=True)
        self.loader = DataLoader(ds, sampler=self.sampler, **vars(LoaderCfg()))  # cause
        self.head = DDP(nn.Linear(args.dim, args.classes).to(device), device_ids=[device.index])
        self.opt = torch.optim.SGD(self.head.parameters(), lr=args.lr)

    def epoch(self, n):
        self.sampler.set_epoch(n)
        seen = 0
        for x, y in self.loader:
            x, y = x.to(self.device), y.to(self.device)

            def closure():
                self.opt.zero_grad()
                loss = F.cross_entropy(self.head(x), y)
                loss.backward()
                return loss

            self.last = self.opt.step(closure)
            seen += len(x)
        return seen


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("features")
    ap.add_argument("--dim", type=int, default=1024)
    ap.add_argument("--classes", type=int, default=1000)
    ap.add_argument("--lr", type=float, default=0.1)
    ap.add_argument("--noise", type=float, default=0.02)
    ap.add_argument("--epochs", type=int, default=20)
    args = ap.parse_args()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl")
    probe = Probe(args, device)
    for n in range(args.epochs):
        seen = probe.epoch(n)
        if dist.get_rank() == 0:
            print(f"epoch {n}: {seen} rows, loss {probe.last.item():.4f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
