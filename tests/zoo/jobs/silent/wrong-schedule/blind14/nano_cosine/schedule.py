import math

from torch.optim.lr_scheduler import LambdaLR


def cosine_with_warmup(optimizer, warmup, total):
    def scale(step):
        if step < warmup:
            return step / max(1, warmup)
        done = min(1.0, (step - warmup) / max(1, total - warmup))
        return 0.5 * (1 + math.cos(math.pi * done))
    return LambdaLR(optimizer, scale)
