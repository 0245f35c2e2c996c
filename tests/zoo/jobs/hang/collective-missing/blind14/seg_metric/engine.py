import logging
import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Subset
from torch.utils.data.distributed import DistributedSampler

from metrics import MetricCollection
from net import MiniUNet
from tiles import TileSet

log = logging.getLogger("seg")


class Engine:
    def __init__(self, cfg):
        self.cfg = cfg
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        torch.manual_seed(0)
        self.model = DDP(MiniUNet(cfg["width"], len(cfg["classes"])))
        self.opt = torch.optim.AdamW(self.model.parameters(), lr=cfg["lr"])
        train, val = TileSet(cfg, "train"), TileSet(cfg, "val")
        self.sampler = DistributedSampler(train, seed=3)
        self.train_loader = DataLoader(train, cfg["batch_size"], sampler=self.sampler, drop_last=True)
        span = len(val) // self.world
        self.val_loader = DataLoader(Subset(val, range(self.rank * span, (self.rank + 1) * span)), cfg["batch_size"])
        self.metrics = MetricCollection(cfg["classes"])
        self.ckpt = os.path.join(cfg["out_dir"], "epoch{:02d}.pt")
        os.makedirs(cfg["out_dir"], exist_ok=True)

    def train_epoch(self, epoch):
        self.model.train()
        self.sampler.set_epoch(epoch)
        for i, (x, y) in enumerate(self.train_loader):
            loss = nn.functional.cross_entropy(self.model(x), y)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            if i % 5 == 0:
                log.info("epoch %d it %d loss %.3f", epoch, i, loss.item())

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        self.metrics.reset()
        for x, y in self.val_loader:
            self.metrics.update(self.model.module(x).argmax(1), y)
        return self.metrics.compute()

    def publish(self, epoch, scores):
        path = self.ckpt.format(epoch)
        if self.rank == 0:
            torch.save({"model": self.model.module.state_dict(), "scores": scores}, path + ".tmp")
            os.replace(path + ".tmp", path)
        else:
            while not os.path.exists(path):
                time.sleep(0.2)

    def fit(self):
        for epoch in range(self.cfg["epochs"]):
            self.train_epoch(epoch)
            scores = self.validate()
            self.publish(epoch, scores)
            log.info("epoch %d %s", epoch, {k: round(v, 3) for k, v in scores.items()})
