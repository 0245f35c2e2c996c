import logging
import os

import torch
import torch.distributed as dist
from torch import nn

from meters import MetricLogger

log = logging.getLogger("detect")


class History:
    """What a later run needs to go on, and what the plots are made of."""

    def __init__(self):
        self.epochs, self.lrs = [], []

    def add(self, lr, meters):
        self.lrs.append(lr)
        self.epochs.append(meters)

    def curves(self):
        return {name: [m[name].recent for m in self.epochs] for name in self.epochs[-1]}


class Detector(nn.Module):
    def __init__(self, classes=4):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 12, 3, 2, 1), nn.ReLU(), nn.Conv2d(12, 24, 3, 2, 1), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten())
        self.cls, self.box = nn.Linear(96, classes), nn.Linear(96, 4)

    def forward(self, image):
        h = self.body(image)
        return self.cls(h), self.box(h).sigmoid()


class Engine:
    def __init__(self, model, opt, schedule, out):
        self.model, self.opt, self.schedule, self.out = model, opt, schedule, out
        self.history = History()

    def train_one_epoch(self, loader, epoch):
        meters = MetricLogger()
        for image, label, box in loader:
            logits, guess = self.model(image)
            losses = {"cls": nn.functional.cross_entropy(logits, label), "box": nn.functional.smooth_l1_loss(guess, box)}
            total = sum(losses.values())
            self.opt.zero_grad()
            total.backward()
            self.opt.step()
            meters.update(total=total, **losses)
        log.info("epoch %d  %s", epoch, meters)
        self.history.add(self.opt.param_groups[0]["lr"], meters.meters)
        self.schedule.step()

    def save(self, epoch):
        if dist.get_rank() != 0:
            return
        os.makedirs(self.out, exist_ok=True)
        state = {"model": self.model.module.state_dict(), "opt": self.opt.state_dict(), "epoch": epoch}
        if epoch > 0:
            state["history"] = self.history
        path = os.path.join(self.out, "last.pth")
        torch.save(state, path + ".part")
        os.replace(path + ".part", path)
