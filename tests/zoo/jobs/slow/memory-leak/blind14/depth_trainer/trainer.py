import itertools
import logging

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

from depthnet import DepthNet, silog
from meters import Stats, reduce_mean
from scenes import Scenes

log = logging.getLogger("depth")


class BaseTrainer:
    def __init__(self, settings):
        self.s = settings
        self.rank = dist.get_rank()
        self.stats = Stats("train_loss", "val_silog", "val_l1")
        self.step = 0

    def fit(self):
        self.setup()
        for batch in itertools.islice(self.train_loader, self.s.steps):
            self.model.train()
            loss = self.training_step(batch)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.step += 1
            self.stats.update(len(batch[0]), train_loss=reduce_mean(loss).item())
            if self.step % self.s.eval_every == 0:
                self.run_validation()
            if self.step % self.s.log_every == 0 and self.rank == 0:
                log.info("step %d train %.4f val %.4f best %.4f", self.step, self.stats.last("train_loss"),
                         self.stats.last("val_silog"), self.stats.best("val_silog"))

    def run_validation(self):
        self.model.eval()
        for batch in itertools.islice(self.val_loader, self.s.eval_batches):
            self.validation_step(batch)
        self.stats.roll()


class DepthTrainer(BaseTrainer):
    def setup(self):
        torch.manual_seed(0)
        self.model = DDP(DepthNet(self.s.width))
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=self.s.lr)
        self.train_loader = DataLoader(Scenes(self.s.size, 10 + self.rank), self.s.batch_size)
        self.val_loader = DataLoader(Scenes(self.s.size, 999 + self.rank), self.s.batch_size)

    def training_step(self, batch):
        img, depth = batch
        return silog(self.model(img), depth)

    def validation_step(self, batch):
        img, depth = batch
        pred = self.model.module(img)
        self.stats.update(len(img), val_silog=silog(pred, depth), val_l1=(pred - depth).abs().mean())
