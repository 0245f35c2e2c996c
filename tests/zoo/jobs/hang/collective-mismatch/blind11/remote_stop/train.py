import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from callbacks import LossLog, RemoteController


class Trainer:
    def __init__(self, callbacks, max_steps):
        self.callbacks = callbacks
        self.max_steps = max_steps
        self.should_stop = False
        self.last_loss = 0.0

    @property
    def is_global_zero(self):
        return dist.get_rank() == 0

    def barrier(self):
        dist.barrier()

    def call(self, hook, *args):
        for callback in self.callbacks:
            getattr(callback, hook)(self, *args)

    def fit(self, model, batches, optimizer):
        self.call("on_train_start")
        for step in range(self.max_steps):
            x, y = batches(step)
            loss = nn.functional.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            self.last_loss = loss.item()
            self.call("on_batch_end", step)
            if self.should_stop:
                break
        self.barrier()
        self.call("on_train_end")


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = DistributedDataParallel(nn.Sequential(nn.Linear(12, 32), nn.Tanh(), nn.Linear(32, 1)))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

    def batches(step):
        g = torch.Generator().manual_seed(step * 10 + rank)
        x = torch.randn(16, 12, generator=g)
        return x, x.sum(1, keepdim=True)

    Trainer([LossLog(), RemoteController("commands.jsonl")], 60).fit(model, batches, optimizer)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
