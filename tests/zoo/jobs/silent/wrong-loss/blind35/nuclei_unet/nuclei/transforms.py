import random

import torch


class Compose:
    def __init__(self, steps):
        self.steps = steps

    def __call__(self, x):
        for step in self.steps:
            x = step(x)
        return x


class RandomHorizontalFlip:
    def __init__(self, p=0.5):
        self.p = p

    def __call__(self, x):
        return torch.flip(x, dims=[-1]) if random.random() < self.p else x


class RandomVerticalFlip:
    def __init__(self, p=0.5):
        self.p = p

    def __call__(self, x):
        return torch.flip(x, dims=[-2]) if random.random() < self.p else x


class RandomRotate90:
    def __call__(self, x):
        return torch.rot90(x, random.randint(0, 3), dims=[-2, -1])
