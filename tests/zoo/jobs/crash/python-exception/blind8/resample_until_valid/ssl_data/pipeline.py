import torch


class Compose:
    def __init__(self, steps):
        self.steps = steps

    def __call__(self, signal):
        for step in self.steps:
            signal = step(signal)
        return signal


class RandomCrop:
    def __init__(self, size):
        self.size = size

    def __call__(self, signal):
        start = int(torch.randint(0, len(signal) - self.size + 1, ()))
        return signal[start : start + self.size]


class Jitter:
    def __init__(self, scale):
        self.scale = scale

    def __call__(self, signal):
        return signal + self.scale * torch.randn_like(signal)
