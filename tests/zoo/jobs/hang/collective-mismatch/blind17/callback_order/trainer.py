import logging

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

import callbacks


class Trainer:
    def __init__(self, settings):
        self.s = settings
        self.rank = dist.get_rank()
        self.log = logging.getLogger("fit")
        torch.manual_seed(1)
        self.model = DDP(nn.Sequential(nn.Linear(20, 96), nn.SiLU(), nn.Linear(96, 96), nn.SiLU(), nn.Linear(96, 1)))
        self.opt = torch.optim.AdamW(self.model.parameters(), settings.lr, weight_decay=settings.weight_decay)
        names = list(settings.callbacks)
        if self.rank == 0:
            names.insert(0, "snapshots")
        self.callbacks = callbacks.build(names)
        self.step = 0

    def info(self, text):
        if self.rank == 0:
            self.log.info(text)

    def fit(self, draw):
        for self.step in range(1, self.s.steps + 1):
            x, y = draw(self.s.batch)
            loss = nn.functional.smooth_l1_loss(self.model(x), y)
            self.opt.zero_grad(set_to_none=True)
            loss.backward()
            self.opt.step()
            for c in self.callbacks:
                c.on_step(self, loss.item())
            if self.step % self.s.every == 0:
                for c in self.callbacks:
                    c.on_interval(self)
