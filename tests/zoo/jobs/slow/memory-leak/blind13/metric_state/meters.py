import torch


class ErrorMeter:
    """Keeps what it was given until compute() is asked for."""

    def __init__(self):
        self.clear()

    def clear(self):
        self.errors, self.weights = [], []

    def add(self, output, target):
        self.errors.append((output - target).abs().mean(1))
        self.weights.append(torch.ones(len(target)))

    def compute(self):
        e, w = torch.cat(self.errors), torch.cat(self.weights)
        return (e * w).sum().item() / w.sum().item()


class Board:
    def __init__(self, **meters):
        self.meters = meters

    def update(self, name, *args):
        self.meters[name].add(*args)

    def line(self):
        return " ".join(f"{k} {m.compute():.4f}" for k, m in self.meters.items())
