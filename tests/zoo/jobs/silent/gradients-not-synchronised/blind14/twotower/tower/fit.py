import argparse

import torch
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

from .events import Purchases
from .model import TwoTower
from .runtime import Runtime


class Fitter:
    def __init__(self, rt, args):
        self.rt, self.args = rt, args
        self.data = Purchases()
        torch.manual_seed(args.seed)
        self.parallel = rt.wrap(TwoTower(self.data.users, self.data.items, args.dim))
        self.net = rt.unwrap(self.parallel)
        self.opt = torch.optim.Adam(self.parallel.parameters(), lr=args.lr)
        self.sampler = DistributedSampler(self.data, rt.world, rt.rank, drop_last=True)
        self.loader = DataLoader(self.data, args.batch_size, sampler=self.sampler, drop_last=True)

    def update(self, user, item):
        loss = self.net.in_batch_loss(user, item)
        self.opt.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.parallel.parameters(), 5.0)
        self.opt.step()
        return loss.item()

    def run(self):
        probe = self.data.pairs[:: 9]
        for epoch in range(self.args.epochs):
            self.sampler.set_epoch(epoch)
            self.parallel.train()
            losses = [self.update(u, i) for u, i in self.loader]
            mean = self.rt.mean(sum(losses) / len(losses))
            if self.rt.rank == 0:
                print(f"epoch {epoch} loss {mean:.4f} recall@20 {self.net.recall(probe):.4f}", flush=True)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=40)
    p.add_argument("--batch-size", type=int, default=128)
    p.add_argument("--dim", type=int, default=32)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--seed", type=int, default=0)
    args = p.parse_args()
    rt = Runtime.from_env()
    Fitter(rt, args).run()
    rt.close()


if __name__ == "__main__":
    main()
