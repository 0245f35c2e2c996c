import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Trainer:
    def __init__(self, store, callbacks, epochs, batch=128):
        torch.manual_seed(0)
        self.store, self.callbacks, self.epochs, self.batch = store, callbacks, epochs, batch
        self.tiles = len(store)
        self.model = DistributedDataParallel(nn.Linear(64, 4))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)

    def part(self):
        rank, world = dist.get_rank(), dist.get_world_size()
        return range(rank * self.tiles // world, (rank + 1) * self.tiles // world, self.batch)

    def fit(self):
        for epoch in range(self.epochs):
            for first in self.part():
                x = self.store.batch(first, self.batch)
                self.optimizer.zero_grad()
                loss = self.model(x).square().mean()
                loss.backward()
                self.optimizer.step()
            if dist.get_rank() == 0:
                print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
            for callback in self.callbacks:
                callback.on_epoch_end(self, epoch)
