"""Rank 0 is the teacher, rank 1 the student: logits go over as tagged messages."""
import time

import torch
import torch.distributed as dist
from torch import nn

STEPS = 30


def inputs(step):
    return torch.randn(8, 6, generator=torch.Generator().manual_seed(step % 20))


def teach():
    net = nn.Linear(6, 3)
    for step in range(STEPS):
        dist.send(net(inputs(step)).detach(), dst=1, tag=step)


class Student:
    def __init__(self):
        self.net = nn.Linear(6, 3)
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.5)
        self.cache = {}

    def logits(self, step):
        key = step % 20
        if key not in self.cache:
            answer = torch.empty(8, 3)
            dist.recv(answer, src=0, tag=step)
            self.cache[key] = answer
        return self.cache[key]

    def learn(self):
        for step in range(STEPS):
            target = self.logits(step).softmax(1)
            loss = nn.functional.cross_entropy(self.net(inputs(step)), target)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
        print(f"loss {loss.item():.4f}", flush=True)


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(dist.get_rank())
    teach() if dist.get_rank() == 0 else Student().learn()
    dist.barrier()
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()
