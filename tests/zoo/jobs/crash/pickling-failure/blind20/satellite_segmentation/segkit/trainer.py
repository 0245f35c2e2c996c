import os

import torch
import torch.distributed as dist
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

from segkit.callbacks import REGISTRY


class Trainer:
    def __init__(self, cfg, model, loader, sampler):
        self.cfg, self.loader, self.sampler = cfg, loader, sampler
        self.rank = dist.get_rank()
        self.is_main = self.rank == 0
        self.batch_size = cfg.data["batch_size"]
        self.model = DDP(model)
        self.optimizer = torch.optim.AdamW(model.parameters(), **cfg.optim)
        self.scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, cfg.trainer["epochs"])
        self.callbacks = [REGISTRY[name]() for name in cfg.callbacks]
        self.epoch, self.finished = 0, False

    def print(self, *args):
        if self.is_main:
            print(*args, flush=True)

    def emit(self, event, *args):
        for callback in self.callbacks:
            getattr(callback, event)(self, *args)

    def fit(self):
        self.emit("on_train_begin")
        for self.epoch in range(self.cfg.trainer["epochs"]):
            self.sampler.set_epoch(self.epoch)
            for images, masks in self.loader:
                loss = F.cross_entropy(self.model(images), masks)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                self.emit("on_step_end", loss.item())
            self.scheduler.step()
            self.emit("on_epoch_end")
            if (self.epoch + 1) % self.cfg.trainer["save_every"] == 0 and self.is_main:
                self.save()
        self.finished = True

    def save(self):
        os.makedirs(self.cfg.trainer["out_dir"], exist_ok=True)
        state = {
            "model": self.model.module.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "scheduler": self.scheduler.state_dict(),
            "callbacks": {type(c).__name__: c.state_dict() for c in self.callbacks},
            "epoch": self.epoch,
        }
        torch.save(state, os.path.join(self.cfg.trainer["out_dir"], f"epoch{self.epoch:03d}.pt"))
