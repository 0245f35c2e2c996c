import copy

import torch
import torch.distributed as dist


class PrintLoss:
    def on_epoch_end(self, loop, epoch):
        print(f"{epoch:3d} {loop.loss:.5f}", flush=True)


class SaveBest:
    def __init__(self, path):
        self.path, self.best = path, float("inf")

    def on_epoch_end(self, loop, epoch):
        if loop.loss < self.best:
            self.best = loop.loss
            torch.save(loop.net.state_dict(), self.path)


class AverageWeights:
    """Keeps a mean of the weights; the ranks hold the same one."""

    def __init__(self, start, decay=0.9):
        self.start, self.decay, self.mean = start, decay, None

    def on_epoch_end(self, loop, epoch):
        if epoch < self.start:
            return
        if self.mean is None:
            self.mean = copy.deepcopy(loop.net.state_dict())
        for name, value in loop.net.state_dict().items():
            self.mean[name].lerp_(value, 1 - self.decay)
            dist.broadcast(self.mean[name], src=0)

    def on_train_end(self, loop):
        loop.net.load_state_dict(self.mean)
