import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def unwrap(model):
    return model.module if isinstance(model, DistributedDataParallel) else model


class Engine:
    """Loops over a model that has training_step and validation_step, on one or more ranks."""

    def __init__(self, model, optimizer, schedule=None, hooks=()):
        self.rank = dist.get_rank() if dist.is_initialized() else 0
        self.model = DistributedDataParallel(model) if dist.is_initialized() else model
        self.steps = unwrap(self.model)
        self.optimizer = optimizer
        self.schedule = schedule
        self.hooks = hooks

    def fit(self, loader, held, epochs):
        for epoch in range(epochs):
            loader.sampler.set_epoch(epoch)
            self.model.train()
            for batch in loader:
                loss = self.steps.training_step(batch)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
            if self.schedule:
                self.schedule.step()
            rmse = self.validate(held)
            for hook in self.hooks:
                hook(self, epoch, loss.item(), rmse)

    @torch.no_grad()
    def validate(self, loader):
        self.model.eval()
        totals = torch.zeros(2)
        for batch in loader:
            totals += self.steps.validation_step(batch)
        if dist.is_initialized():
            dist.all_reduce(totals)
        return (totals[0] / totals[1]).sqrt().item()

    def save(self, path):
        if self.rank == 0:
            torch.save(self.steps.state_dict(), path)
