import os
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from surrogate.model import ResStep
from surrogate.solver import burgers


class Trainer:
    def __init__(self, cfg):
        self.cfg, self.rank = cfg, dist.get_rank()
        torch.manual_seed(cfg.seed)
        fields = burgers(cfg.samples, frames=5, seed=1)
        pairs = TensorDataset(fields[:, :-1].flatten(0, 1), fields[:, 1:].flatten(0, 1))
        self.test_fields = burgers(64, frames=5, seed=2)
        self.sampler = DistributedSampler(pairs, seed=cfg.seed)
        self.loader = DataLoader(pairs, batch_size=cfg.batch_size, sampler=self.sampler, drop_last=True)
        self.model = DistributedDataParallel(ResStep())
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=cfg.lr)
        self.scheduler = torch.optim.lr_scheduler.OneCycleLR(self.optimizer, cfg.lr, total_steps=cfg.epochs * len(self.loader), pct_start=0.1)
        self.epoch = 0

    def save(self):
        if self.rank == 0:
            path = os.path.join(self.cfg.out, f"checkpoint_{self.epoch}.pt")
            state = {"model": self.model.module.state_dict(), "optimizer": self.optimizer.state_dict(),
                     "scheduler": self.scheduler.state_dict(), "epoch": self.epoch}
            torch.save(state, path + ".tmp")
            os.replace(path + ".tmp", path)
        dist.barrier()

    def load_last(self):
        names = [f for f in os.listdir(self.cfg.out) if f.startswith("checkpoint_") and f.endswith(".pt")]
        if not names:
            return
        last = sorted(names)[-1]
        state = torch.load(os.path.join(self.cfg.out, last), map_location="cpu")
        self.model.module.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.scheduler.load_state_dict(state["scheduler"])
        self.epoch = state["epoch"] + 1
        if self.rank == 0:
            print(f"resuming from {last}", flush=True)

    def fit(self):
        until = min(self.epoch + self.cfg.epochs_per_job, self.cfg.epochs)
        while self.epoch < until:
            self.sampler.set_epoch(self.epoch)
            start, total = time.time(), 0.0
            for u, v in self.loader:
                loss = (self.model(u) - v).pow(2).mean() / v.pow(2).mean()
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                self.scheduler.step()
                total += loss.item()
            if self.rank == 0:
                print(f"epoch {self.epoch} loss {total / len(self.loader):.2e} ({time.time() - start:.1f} s)", flush=True)
            self.save()
            self.epoch += 1

    @torch.no_grad()
    def one_step_error(self):
        u, v = self.test_fields[:, :-1].flatten(0, 1), self.test_fields[:, 1:].flatten(0, 1)
        return ((self.model.module(u) - v).norm() / v.norm()).item()
