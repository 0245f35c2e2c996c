import logging

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

log = logging.getLogger("studio")


class Trainer:
    def __init__(self, model, loader, sampler, lr, callbacks):
        self.model = DDP(model)
        self.loader, self.sampler = loader, sampler
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=lr)
        self.callbacks = callbacks
        self.should_stop = False
        self.requested_lr = None
        self.epoch = self.step = 0
        self.last_loss = float("nan")

    @property
    def is_global_zero(self):
        return dist.get_rank() == 0

    def call(self, hook):
        for callback in self.callbacks:
            getattr(callback, hook)(self)

    def save(self, path):
        torch.save({"model": self.model.module.state_dict(), "epoch": self.epoch, "step": self.step}, path)

    def train_epoch(self):
        self.sampler.set_epoch(self.epoch)
        for image, heatmap in self.loader:
            loss = torch.nn.functional.mse_loss(self.model(image), heatmap)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.step += 1
            self.last_loss = loss.item()
            self.call("on_batch_end")
            if self.should_stop:
                return

    def fit(self, epochs):
        self.call("on_fit_start")
        for self.epoch in range(epochs):
            self.train_epoch()
            self.call("on_epoch_end")
            if self.should_stop:
                log.info("leaving at epoch %d", self.epoch)
                break
        self.call("on_fit_end")
        dist.barrier()
