import logging

import torch
import torch.distributed as dist
from torch import nn

log = logging.getLogger("seg")


class Trainer:
    def __init__(self, model, optimizer, callbacks, max_epochs):
        self.model, self.opt, self.callbacks, self.max_epochs = model, optimizer, callbacks, max_epochs
        self.rank = dist.get_rank()
        self.epoch = self.global_step = 0

    def _call(self, hook, *args):
        for cb in self.callbacks:
            fn = getattr(cb, hook, None)
            if fn is not None:
                fn(self, *args)

    def fit(self, loader, valid):
        self._call("on_fit_start")
        try:
            for self.epoch in range(self.max_epochs):
                loader.sampler.set_epoch(self.epoch)
                self._epoch(loader)
                self._call("on_epoch_end", self.validate(valid))
        except Exception as error:
            self._call("on_exception", error)
            raise
        self._call("on_fit_end")

    def _epoch(self, loader):
        self.model.train()
        for image, mask in loader:
            loss = nn.functional.binary_cross_entropy_with_logits(self.model(image), mask)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            self.global_step += 1

    @torch.no_grad()
    def validate(self, loader):
        self.model.eval()
        counts = torch.zeros(2)
        for image, mask in loader:
            guess = self.model(image) > 0
            counts += torch.tensor([(guess & mask.bool()).sum(), (guess | mask.bool()).sum()])
        dist.all_reduce(counts)
        iou = (counts[0] / counts[1].clamp_min(1)).item()
        log.info("epoch %d iou %.3f", self.epoch, iou)
        return {"iou": iou}
