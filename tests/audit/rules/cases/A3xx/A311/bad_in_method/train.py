"""The test of no_sync() stands in a method that gives the context: it is what has to be mended."""
from contextlib import nullcontext


class Trainer:
    def __init__(self, model, optimizer, every):
        self.model, self.optimizer, self.every = model, optimizer, every

    def context(self, number):
        if number % self.every != 0:
            return self.model.no_sync()
        return nullcontext()

    def epoch(self, loader, loss):
        for number, x in enumerate(loader):
            with self.context(number):
                loss(self.model(x)).backward()
            if (number + 1) % self.every == 0:
                self.optimizer.step()
                self.optimizer.zero_grad()
