import logging
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from .fields import AdvectedFields
from .net import forecaster

log = logging.getLogger("wx")


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.rank = dist.get_rank()
        torch.manual_seed(cfg["seed"])
        self.model = DDP(forecaster(cfg["width"]))
        self.data = AdvectedFields()
        self.sampler = DistributedSampler(self.data, seed=cfg["seed"])
        self.loader = DataLoader(self.data, cfg["batch_size"], sampler=self.sampler, drop_last=True)
        self.epoch = 0
        self.global_step = 0
        self.configure(cfg["lr"])

    def configure(self, lr=None):
        c = self.cfg
        lr = lr or c["lr"]
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=lr, betas=(0.9, 0.98), weight_decay=c["weight_decay"])
        self.scheduler = torch.optim.lr_scheduler.OneCycleLR(self.optimizer, lr, total_steps=c["epochs"] * len(self.loader), pct_start=0.2)

    def freeze_stem(self, frozen):
        for p in self.model.module[0].parameters():
            p.requires_grad_(not frozen)
        self.configure()

    def state(self):
        return {"model": self.model.module.state_dict(), "optimizer": self.optimizer.state_dict(), "scheduler": self.scheduler.state_dict(),
                "epoch": self.epoch, "global_step": self.global_step}

    def save(self, path):
        if self.rank == 0:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            torch.save(self.state(), path)
        dist.barrier()

    def resume(self, path):
        s = torch.load(path, map_location="cpu", weights_only=True)
        self.model.module.load_state_dict(s["model"])
        self.optimizer.load_state_dict(s["optimizer"])
        self.scheduler.load_state_dict(s["scheduler"])
        self.epoch, self.global_step = s["epoch"], s["global_step"]
        log.info("resumed %s at epoch %d step %d", path, self.epoch, self.global_step)

    def fit(self, until):
        self.freeze_stem(self.cfg.get("frozen_stem", False))
        while self.epoch < until:
            self.sampler.set_epoch(self.epoch)
            total = torch.zeros(())
            for now, nxt in self.loader:
                loss = torch.nn.functional.mse_loss(self.model(now), nxt)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                self.scheduler.step()
                self.global_step += 1
                total += loss.detach()
            dist.all_reduce(total)
            self.epoch += 1
            log.info("epoch %d step %d mse %.5f", self.epoch, self.global_step, total.item() / len(self.loader) / dist.get_world_size())
