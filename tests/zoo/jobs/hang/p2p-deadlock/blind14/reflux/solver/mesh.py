from dataclasses import dataclass

import torch


@dataclass
class Slab:
    rank: int
    world: int
    cells: int
    dx: float

    @property
    def left(self):
        return self.rank - 1 if self.rank > 0 else None

    @property
    def right(self):
        return self.rank + 1 if self.rank < self.world - 1 else None

    def coords(self):
        start = self.rank * self.cells
        return (torch.arange(self.cells, dtype=torch.float32) + start + 0.5) * self.dx


def initial_state(slab):
    x = slab.coords()
    return torch.exp(-((x - 0.12) / 0.06) ** 2)
