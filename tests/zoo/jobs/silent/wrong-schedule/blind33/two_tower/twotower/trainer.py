import contextlib

import torch


class Trainer:
    def __init__(self, model, criterion, optimizer, scheduler, config):
        self.model, self.criterion = model, criterion
        self.optimizer, self.scheduler = optimizer, scheduler
        self.config = config
        self.scaler = torch.amp.GradScaler("cpu", init_scale=1024.0) if config.mixed_precision else None
        self.use_amp_scaler = self.scaler is not None
        self.optimizer_stepped = False
        self.total_steps = 0

    def autocast(self):
        if self.config.mixed_precision:
            return torch.autocast("cpu", dtype=torch.bfloat16)
        return contextlib.nullcontext()

    def optimize(self, batch):
        self.optimizer.zero_grad()
        update_scheduler = True
        with self.autocast():
            loss = self.criterion(self.model(*batch[:2]), batch[2])
        if self.use_amp_scaler:
            self.scaler.scale(loss).backward()
            self.scaler.unscale_(self.optimizer)
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.config.grad_clip)
            scale_before = self.scaler.get_scale()
            self.scaler.step(self.optimizer)
            self.scaler.update()
            update_scheduler = scale_before <= self.scaler.get_scale()
        else:
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.config.grad_clip)
            self.optimizer.step()
            self.optimizer_stepped = True
        if not self.config.scheduler_after_epoch and update_scheduler:
            self.scheduler.step()
        self.total_steps += 1
        return loss.item()

    def train_epoch(self, loader):
        self.model.train()
        losses = [self.optimize(batch) for batch in loader]
        if self.config.scheduler_after_epoch and self.optimizer_stepped:
            self.scheduler.step()
        return sum(losses) / len(losses)

    @torch.no_grad()
    def evaluate(self, loader):
        self.model.eval()
        err = n = 0
        for user, item, rating in loader:
            err += (self.model(user, item).float() - rating).square().sum().item()
            n += len(rating)
        return (err / n) ** 0.5
