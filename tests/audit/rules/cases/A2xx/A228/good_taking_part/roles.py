"""The critic only takes part, so that the generator has the sum."""

import torch
import torch.distributed as dist


def generator(pair, radius, steps):
    for step in range(steps):
        told = torch.tensor([radius(step), 0.0])
        dist.all_reduce(told, group=pair)
        print(step, told.tolist())


def critic(pair, learn, steps):
    for step in range(steps):
        loss = learn(step)
        dist.all_reduce(torch.tensor([0.0, loss.item()]), group=pair)
