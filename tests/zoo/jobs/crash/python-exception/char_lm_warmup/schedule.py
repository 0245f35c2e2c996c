import math


class Warmup:
    """Linear warm-up, then a cosine."""

    def __init__(self, warmup, total=100):
        self.warmup = warmup
        self.total = total

    def __call__(self, base, step):
        if step <= max(self.warmup, 3):
            return base * step / self.warmup
        return base * 0.5 * (1 + math.cos(math.pi * step / self.total))
