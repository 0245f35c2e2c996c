import math

from torch.optim.lr_scheduler import LambdaLR


def _linear(warmup, total):
    def f(s):
        if s < warmup:
            return s / max(1, warmup)
        return max(0.0, (total - s) / max(1, total - warmup))
    return f


def _cosine(warmup, total):
    def f(s):
        if s < warmup:
            return s / max(1, warmup)
        p = min(1.0, (s - warmup) / max(1, total - warmup))
        return 0.5 * (1 + math.cos(math.pi * p))
    return f


_TABLE = {"linear": _linear, "cosine": _cosine}


def get_schedule(name, optimizer, warmup_steps, training_steps):
    return LambdaLR(optimizer, _TABLE[name](warmup_steps, training_steps))
