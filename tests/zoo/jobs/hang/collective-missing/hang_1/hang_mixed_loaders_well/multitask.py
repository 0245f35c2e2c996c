import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from tasks import make_loaders


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(10, 20), nn.ReLU())
        self.depth, self.normals = nn.Linear(20, 1), nn.Linear(20, 3)

    def forward(self, x):
        h = self.body(x)
        return self.depth(h), self.normals(h)


class Trainer:
    def __init__(self):
        self.model = DDP(MultiTask())
        self.opt = torch.optim.SGD(self.model.parameters(), lr=0.02)
        self.loaders = make_loaders(dist.get_rank())

    def run_epoch(self):
        iterators = {name: iter(loader) for name, loader in self.loaders.items()}
        done = 0
        try:
            while True:
                depth = next(iterators["depth"])
                normals = next(iterators["normals"])
                self.step(depth, normals)
                done += 1
        except StopIteration:
            pass
        return done

    def step(self, depth, normals):
        loss = (self.model(depth)[0] - 1).square().mean() + 0 * self.model.module(normals)[1].sum()
        loss = loss + (self.model.module(normals)[1] - 0.5).square().mean()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    trainer = Trainer()
    for epoch in range(3):
        steps = [None, None]
        dist.all_gather_object(steps, trainer.run_epoch())
        if dist.get_rank() == 0:
            print(f"epoch {epoch}: steps {steps}", flush=True)
    dist.barrier()
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()
