import math


class CosineRate:
    """Linear warm-up, then cosine; writes into the groups of an optimizer."""

    def __init__(self, optimizer, base, total, warmup=20, floor=0.02):
        self.groups = optimizer.param_groups
        self.base, self.total, self.warmup, self.floor = base, total, warmup, floor
        self.count = 0

    def value(self):
        if self.count < self.warmup:
            return self.base * (self.count + 1) / self.warmup
        part = (self.count - self.warmup) / max(1, self.total - self.warmup)
        return self.base * max(self.floor, 0.5 * (1 + math.cos(math.pi * min(1.0, part))))

    def step(self):
        for group in self.groups:
            group["lr"] = self.value()
        self.count += 1

    def state_dict(self):
        return {"count": self.count}

    def load_state_dict(self, state):
        self.count = state["count"]
