import random

import torch


class Compose:
    def __init__(self, steps):
        self.steps = steps

    def __call__(self, x):
        for step in self.steps:
            x = step(x)
        return x


class RandomFlip:
    def __init__(self, p):
        self.p = p

    def __call__(self, x):
        if random.random() < self.p:
            x = torch.flip(x, dims=(-1,))
        if random.random() < self.p:
            x = torch.flip(x, dims=(-2,))
        return x


class RandomRot90:
    def __call__(self, x):
        return torch.rot90(x, random.randrange(4), dims=(-2, -1))


class RandomBrightness:
    def __init__(self, amount):
        self.amount = amount

    def __call__(self, x):
        return x + random.uniform(-self.amount, self.amount)
