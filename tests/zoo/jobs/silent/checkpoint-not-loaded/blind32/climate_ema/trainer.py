import logging
import os

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

import dataset
from ema import EMATracker, build_ema

log = logging.getLogger("trainer")


def build_stepper():
    return nn.Sequential(nn.Conv2d(2, 24, 5, padding=2, padding_mode="circular"), nn.GELU(),
                         nn.Conv2d(24, 24, 5, padding=2, padding_mode="circular"), nn.GELU(), nn.Conv2d(24, 2, 1))


class Trainer:
    def __init__(self, config):
        self.config = config
        self.rank = dist.get_rank()
        torch.manual_seed(0)
        self.stepper = build_stepper()
        self.optimizer = torch.optim.AdamW(self.stepper.parameters(), lr=config["lr"])
        self.scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, config["max_epochs"])
        train, valid = dataset.make(**config["data"])
        self.sampler = DistributedSampler(train, seed=1)
        self.train_data = DataLoader(train, batch_size=config["batch_size"], sampler=self.sampler)
        self.valid_data = DataLoader(valid, batch_size=config["batch_size"],
                                     sampler=DistributedSampler(valid, shuffle=False))
        self.epoch, self.best = 0, float("inf")
        os.makedirs(config["run_dir"], exist_ok=True)
        self.path = os.path.join(config["run_dir"], "ckpt.tar")
        if os.path.exists(self.path):
            self.restore_checkpoint()
        self._init_averaging()
        self.model = DDP(self.stepper)

    def _init_averaging(self):
        self.ema = build_ema(self.config, self.stepper)

    def restore_checkpoint(self):
        state = torch.load(self.path)
        self.stepper.load_state_dict(state["stepper"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.scheduler.load_state_dict(state["scheduler"])
        self.epoch, self.best = state["epoch"], state["best"]
        self.ema = EMATracker.from_state(state["ema"], self.stepper)
        if self.rank == 0:
            log.info("restored epoch %d, best %.4f, average of %d updates", self.epoch, self.best, self.ema.num_updates)

    def save_checkpoint(self):
        if self.rank == 0:
            torch.save({"stepper": self.stepper.state_dict(), "optimizer": self.optimizer.state_dict(),
                        "scheduler": self.scheduler.state_dict(), "epoch": self.epoch, "best": self.best,
                        "ema": self.ema.get_state()}, self.path + ".tmp")
            os.replace(self.path + ".tmp", self.path)
        dist.barrier()

    def train_one_epoch(self):
        self.model.train()
        self.sampler.set_epoch(self.epoch)
        total = torch.zeros(2)
        for x, y in self.train_data:
            loss = nn.functional.mse_loss(self.model(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.ema(self.stepper)
            total += torch.tensor([loss.item(), 1.0])
        self.scheduler.step()
        dist.all_reduce(total)
        return (total[0] / total[1]).item()

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        total = torch.zeros(2)
        with self.ema.applied_to(self.stepper):
            for x, y in self.valid_data:
                total += torch.tensor([nn.functional.mse_loss(self.stepper(x), y).item() * len(x), len(x)])
        dist.all_reduce(total)
        return (total[0] / total[1]).item()

    def train(self, segment_epochs):
        last = min(self.config["max_epochs"], self.epoch + segment_epochs)
        while self.epoch < last:
            train = self.train_one_epoch()
            valid = self.validate()
            self.epoch += 1
            self.best = min(self.best, valid)
            if self.rank == 0:
                log.info("epoch %d train %.4f valid (averaged) %.4f", self.epoch, train, valid)
            self.save_checkpoint()
