import logging

import torch
from torch import nn

log = logging.getLogger("reviews")


class Loop:
    def __init__(self, model, opt, loader):
        self.model, self.opt, self.loader = model, opt, loader

    def _begin(self, epoch):
        sampler = getattr(self.loader, "sampler", None)
        if hasattr(sampler, "set_epoch"):
            sampler.set_epoch(epoch)

    def epoch(self, number):
        self._begin(number)
        right = seen = 0
        for x, y in self.loader:
            out = self.model(x)
            loss = nn.functional.binary_cross_entropy_with_logits(out, y)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            right, seen = right + ((out > 0) == y.bool()).sum().item(), seen + len(y)
        log.info("epoch %d accuracy %.3f", number, right / seen)
