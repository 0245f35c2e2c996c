import argparse
import contextlib
import os
from dataclasses import dataclass

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


@dataclass
class TuneArgs:
    data: str
    epochs: int
    micro_batch: int
    accum_steps: int
    lr: float


class LowRank(nn.Module):
    def __init__(self, base, rank=8):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.down = nn.Linear(base.in_features, rank, bias=False)
        self.up = nn.Linear(rank, base.out_features, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, x):
        return self.base(x) + self.up(self.down(x))


class Tuner:
    def __init__(self, args):
        self.args = args
        self.local = int(os.environ["LOCAL_RANK"])
        net = nn.Sequential(LowRank(nn.Linear(1024, 1024)), nn.GELU(), LowRank(nn.Linear(1024, 64)))
        self.model = DDP(net.cuda(self.local), device_ids=[self.local])
        self.trainable = [p for p in self.model.parameters() if p.requires_grad]
        self.optim = torch.optim.AdamW(self.trainable, lr=args.lr)
        self.updates = 0

    def forward_backward(self, x, y):
        loss = F.cross_entropy(self.model(x), y) / self.args.accum_steps
        loss.backward()
        return loss.detach() * self.args.accum_steps

    def apply(self):
        torch.nn.utils.clip_grad_norm_(self.trainable, 1.0)
        self.optim.step()
        self.optim.zero_grad(set_to_none=True)
        self.updates += 1

    def train(self, loader, sampler):
        for epoch in range(self.args.epochs):
            sampler.set_epoch(epoch)
            self.optim.zero_grad(set_to_none=True)
            for i, (x, y) in enumerate(loader, start=1):
                last = i % self.args.accum_steps == 0
                with contextlib.nullcontext() if last else self.model.no_sync():
                    loss = self.forward_backward(x.cuda(self.local), y.cuda(self.local))
                if last:
                    self.apply()
            if dist.get_rank() == 0:
                print(f"epoch {epoch} updates {self.updates} loss {loss.item():.4f}")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--data", required=True)
    p.add_argument("--epochs", type=int, default=3)
    p.add_argument("--micro-batch", type=int, default=4)
    p.add_argument("--accum-steps", type=int, default=16)
    p.add_argument("--lr", type=float, default=1e-4)
    args = TuneArgs(**vars(p.parse_args()))
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    blob = torch.load(args.data, map_location="cpu")
    ds = TensorDataset(blob["x"], blob["y"])
    sampler = DistributedSampler(ds, drop_last=True)
    Tuner(args).train(DataLoader(ds, args.micro_batch, sampler=sampler), sampler)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
