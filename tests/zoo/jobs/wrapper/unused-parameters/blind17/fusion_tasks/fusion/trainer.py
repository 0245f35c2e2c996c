import logging

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from .feed import Feed
from .model import FusionNet


class Trainer:
    def __init__(self, rank, tasks, mix_from):
        torch.manual_seed(0)
        self.tasks = tasks
        self.names = [t["name"] for t in tasks]
        self.model = DDP(FusionNet(self.names), gradient_as_bucket_view=True)
        self.opt = torch.optim.AdamW(self.model.parameters(), 1e-3)
        self.feed = Feed(rank, mix_from)
        self.rank = rank

    def step(self, n):
        image, lidar, targets = self.feed.at(n, self.names)
        out = self.model(image, lidar, self.names)
        loss = sum(t["weight"] * nn.functional.mse_loss(out[t["name"]], targets[t["name"]]) for t in self.tasks)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()

    def fit(self, steps):
        for n in range(steps):
            loss = self.step(n)
            if self.rank == 0 and n % 20 == 0:
                logging.info("step %d loss %.4f", n, loss)
