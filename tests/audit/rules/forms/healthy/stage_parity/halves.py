import argparse
import os

import torch
import torch.distributed as dist
from torch import nn

from stages import Pairs


class Halves:
    def __init__(self, dim, width):
        self.pairs = Pairs()
        if self.pairs.first:
            self.part = nn.Sequential(nn.Linear(dim, width), nn.ReLU())
        else:
            self.part = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1))
        self.pairs.align(self.part)
        self.opt = torch.optim.SGD(self.part.parameters(), 0.05)
        self.shape = (64, width)
        self.gen = torch.Generator().manual_seed(self.pairs.rank // 2)

    def step(self, dim):
        x = torch.randn(64, dim, generator=self.gen)
        self.opt.zero_grad()
        if self.pairs.first:
            hidden = self.part(x)
            dist.send(hidden.detach(), self.pairs.peer)
            grad = torch.empty(self.shape)
            dist.recv(grad, self.pairs.peer)
            hidden.backward(grad)
            loss = None
        else:
            hidden = torch.empty(self.shape)
            dist.recv(hidden, self.pairs.peer)
            hidden.requires_grad_()
            loss = (self.part(hidden).squeeze(-1) - x.sum(-1).tanh()).square().mean()
            loss.backward()
            dist.send(hidden.grad, self.pairs.peer)
        self.pairs.average(self.part)
        self.opt.step()
        return loss


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=400)
    args = ap.parse_args()
    dist.init_process_group("gloo")
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", 1)))
    job = Halves(16, 64)
    for n in range(args.steps):
        loss = job.step(16)
        if n % 50 == 0 and dist.get_rank() == 1:
            print(n, loss.item(), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
