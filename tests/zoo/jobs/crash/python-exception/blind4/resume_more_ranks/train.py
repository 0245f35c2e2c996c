import argparse
import random

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from callbacks import Checkpoint, RandomStates


class Trainer:
    def __init__(self, model, callbacks, resume):
        self.rank = dist.get_rank()
        self.resume = resume
        self.callbacks = callbacks
        self.model = DistributedDataParallel(model)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.02)
        self.step = 0

    def call(self, event):
        for callback in self.callbacks:
            getattr(callback, event)(self)

    def augment(self, x):
        return x.flip(1) if random.random() < 0.5 else x + 0.01 * torch.randn_like(x)

    def fit(self, steps):
        self.call("on_train_begin")
        while self.step < steps:
            x = self.augment(torch.ones(4, 10))
            loss = (self.model(x) - 1).pow(2).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.step += 1
        self.call("on_train_end")
        return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--resume", action="store_true")
    args = parser.parse_args()
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    random.seed(dist.get_rank())
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(10, 8), nn.ReLU(), nn.Linear(8, 1))
    callbacks = [Checkpoint(args.folder), RandomStates(args.folder)]
    loss = Trainer(model, callbacks, args.resume).fit(args.steps)
    if dist.get_rank() == 0:
        print(f"{dist.get_world_size()} ranks, {args.steps} steps, loss {loss:.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
