import math
from dataclasses import dataclass


@dataclass
class Schedule:
    lr: float = 3e-3
    warmup: int = 2000
    total: int = 20000
    floor: float = 0.0

    def at(self, step):
        if step < self.warmup:
            return self.lr * (step // self.warmup)
        t = (step - self.warmup) / (self.total - self.warmup)
        return self.floor + 0.5 * (self.lr - self.floor) * (1 + math.cos(math.pi * t))
