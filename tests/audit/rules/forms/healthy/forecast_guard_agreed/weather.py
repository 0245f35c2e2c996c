import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

from fields import FieldPairs
from guards import SpikeGuard


class Forecaster(nn.Module):
    def __init__(self, channels, width=128):
        super().__init__()
        self.enc = nn.Conv2d(channels, width, 5, padding=2, padding_mode="circular")
        self.mid = nn.Sequential(*[nn.Conv2d(width, width, 3, padding=1) for _ in range(6)])
        self.dec = nn.Conv2d(width, channels, 1)

    def forward(self, x):
        return x + self.dec(torch.tanh(self.mid(torch.relu(self.enc(x)))))


class ForecastTrainer:
    def __init__(self, args):
        self.args = args
        local = int(os.environ["LOCAL_RANK"])
        torch.cuda.set_device(local)
        self.device = torch.device("cuda", local)
        data = FieldPairs(args.root, args.lead)
        self.sampler = DistributedSampler(data, shuffle=True, drop_last=True)
        self.loader = DataLoader(data, args.batch_size, sampler=self.sampler, num_workers=6, drop_last=True)
        self.model = DDP(Forecaster(data.channels).to(self.device), device_ids=[local])
        self.opt = torch.optim.Adam(self.model.parameters(), lr=args.lr)
        self.guard = SpikeGuard()

    def one_epoch(self, epoch):
        self.sampler.set_epoch(epoch)
        for now, then in self.loader:
            pred = self.model(now.to(self.device, non_blocking=True))
            loss = nn.functional.l1_loss(pred, then.to(self.device, non_blocking=True))
            verdict = torch.tensor(float(self.guard.bad(loss)), device=self.device)
            dist.all_reduce(verdict, op=dist.ReduceOp.MAX)
            if verdict.item() > 0:
                self.guard.rejected += 1
                continue
            self.opt.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.opt.step()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("root")
    ap.add_argument("--lead", type=int, default=6)
    ap.add_argument("--batch-size", type=int, default=8)
    ap.add_argument("--lr", type=float, default=2e-4)
    ap.add_argument("--epochs", type=int, default=50)
    args = ap.parse_args()
    dist.init_process_group("nccl")
    trainer = ForecastTrainer(args)
    for epoch in range(args.epochs):
        trainer.one_epoch(epoch)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
