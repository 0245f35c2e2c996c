import argparse
import logging
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from net import SegNet
from tiles import Tiles

log = logging.getLogger("seg")


class Finetuner:
    def __init__(self, a):
        self.a = a
        self.rank = dist.get_rank()
        torch.manual_seed(0)
        self.model = DDP(SegNet(3).freeze_encoder())
        ds = Tiles(0, a.tiles)
        self.sampler = DistributedSampler(ds)
        self.loader = DataLoader(ds, a.batch, sampler=self.sampler, drop_last=True, num_workers=1)
        self.held_out = DataLoader(Tiles(10**6, 96), 32)
        self.opt = torch.optim.AdamW([p for p in self.model.parameters() if p.requires_grad], lr=a.lr)
        self.sched = torch.optim.lr_scheduler.LambdaLR(self.opt, lambda s: min(1.0, s / a.warmup))
        self.best = 0.0

    @torch.no_grad()
    def evaluate(self):
        net = self.model.module
        net.eval()
        hit = tot = 0
        for x, y in self.held_out:
            hit += (net(x).argmax(1) == y).sum().item()
            tot += y.numel()
        net.train()
        return hit / tot

    def checkpoint(self, epoch):
        if self.rank == 0:
            score = self.evaluate()
            log.info("epoch %d pixel acc %.3f", epoch, score)
            if score > self.best:
                self.best = score
                torch.save({"net": self.model.module.state_dict(), "epoch": epoch}, "best.tmp")
                os.replace("best.tmp", "best.pt")
        dist.barrier()

    def run(self):
        for epoch in range(self.a.epochs):
            self.sampler.set_epoch(epoch)
            self.model.train()
            for x, y in self.loader:
                loss = nn.functional.cross_entropy(self.model(x), y)
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
                self.sched.step()
            self.checkpoint(epoch)
        state = torch.load("best.pt")
        self.model.module.load_state_dict(state["net"])
        if self.rank == 0:
            log.info("restored epoch %d: %.3f", state["epoch"], self.evaluate())
        dist.barrier()


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--tiles", type=int, default=640)
    p.add_argument("--batch", type=int, default=16)
    p.add_argument("--epochs", type=int, default=5)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--warmup", type=int, default=20)
    a = p.parse_args()
    logging.basicConfig(level=logging.INFO)
    dist.init_process_group("gloo")
    Finetuner(a).run()
    dist.destroy_process_group()
