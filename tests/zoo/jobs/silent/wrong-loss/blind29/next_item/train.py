import argparse
import os
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

from dataset import Sessions
from network import SASRec


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--items", type=int, default=200)
    p.add_argument("--max-len", type=int, default=24)
    p.add_argument("--batch-size", type=int, default=32)
    p.add_argument("--epochs", type=int, default=3)
    p.add_argument("--lr", type=float, default=0.5)
    p.add_argument("--momentum", type=float, default=0.9)
    p.add_argument("--clip", type=float, default=5.0)
    p.add_argument("--seed", type=int, default=2)
    return p.parse_args()


class Trainer:
    def __init__(self, args):
        self.args = args
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        torch.manual_seed(args.seed)
        mesh = init_device_mesh("cpu", (self.world,))
        self.model = SASRec(args.items, args.max_len)
        for layer in self.model.layers:
            fully_shard(layer, mesh=mesh)
        fully_shard(self.model, mesh=mesh)
        torch.manual_seed(args.seed + 1 + self.rank)
        self.opt = torch.optim.SGD(self.model.parameters(), lr=args.lr, momentum=args.momentum)
        train = Sessions(items=args.items, max_len=args.max_len)
        self.sampler = DistributedSampler(train, self.world, self.rank, seed=args.seed)
        self.loader = DataLoader(train, args.batch_size, sampler=self.sampler, drop_last=True)
        held = Sessions(512, args.items, args.max_len, seed=77)
        self.val_loader = DataLoader(torch.utils.data.Subset(held, range(self.rank, 512, self.world)), 64)
        self.sched = torch.optim.lr_scheduler.CosineAnnealingLR(self.opt, len(self.loader) * args.epochs, 0.01)

    def token_sums(self, seq, target):
        logits = self.model(seq)
        loss_sum = F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=0, reduction="sum")
        return loss_sum, (target != 0).sum()

    def step(self, seq, target):
        loss_sum, n_tokens = self.token_sums(seq, target)
        totals = torch.stack([loss_sum.detach().double(), n_tokens.double()])
        dist.all_reduce(totals)
        loss = loss_sum / totals[1].float()
        self.opt.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.args.clip)
        self.opt.step()
        self.sched.step()
        return totals[0] / totals[1]

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        sums = torch.zeros(2, dtype=torch.double)
        for seq, target in self.val_loader:
            loss_sum, n = self.token_sums(seq, target)
            sums += torch.stack([loss_sum.double(), n.double()])
        dist.all_reduce(sums)
        self.model.train()
        return (sums[0] / sums[1]).item()

    def fit(self):
        for epoch in range(self.args.epochs):
            self.sampler.set_epoch(epoch)
            start, total = time.time(), 0.0
            for seq, target in self.loader:
                total += self.step(seq, target).item()
            val = self.validate()
            if self.rank == 0:
                print(f"[{epoch}] train {total / len(self.loader):.4f} val {val:.4f} {time.time() - start:.1f}s",
                      flush=True)


if __name__ == "__main__":
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    dist.init_process_group("gloo")
    Trainer(get_args()).fit()
    dist.destroy_process_group()
