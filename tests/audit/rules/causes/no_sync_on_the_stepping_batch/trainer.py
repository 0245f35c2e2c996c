"""Gradients are synchronised on the first micro-batch and kept local on the one after which the optimizer steps."""
from contextlib import nullcontext

import torch


class Trainer:
    def __init__(self, model, optimizer, accum_grad=4, use_ddp=True):
        self.model = model
        self.optimizer = optimizer
        self.accum_grad = accum_grad
        self.use_ddp = use_ddp

    def train_epoch(self, loader, epoch):
        self.model.train()
        loader.sampler.set_epoch(epoch)
        self.optimizer.zero_grad()
        for batch_idx, (x, y) in enumerate(loader):
            my_context = nullcontext
            if self.use_ddp:
                my_context = self.model.no_sync if batch_idx % self.accum_grad != 0 else my_context  # cause
            with my_context():  # cause
                loss = torch.nn.functional.mse_loss(self.model(x), y) / self.accum_grad
                loss.backward()
            if (batch_idx + 1) % self.accum_grad == 0:
                torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                self.optimizer.step()
                self.optimizer.zero_grad()
