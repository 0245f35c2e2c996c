import contextlib
from dataclasses import dataclass


@dataclass
class Accumulator:
    every: int
    total: int

    def is_boundary(self, i):
        return (i + 1) % self.every == 0

    def should_step(self, i):
        return self.is_boundary(i) or i + 1 == self.total

    def scope(self, model, i):
        return contextlib.nullcontext() if self.should_step(i) else model.no_sync()

    def divisor(self, i):
        tail = self.total % self.every
        return tail if tail and i >= self.total - tail else self.every
