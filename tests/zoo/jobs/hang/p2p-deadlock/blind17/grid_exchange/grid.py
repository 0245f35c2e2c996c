from dataclasses import dataclass

import torch.distributed as dist


@dataclass(frozen=True)
class Cart:
    px: int
    py: int
    rank: int

    @classmethod
    def from_world(cls, px):
        world = dist.get_world_size()
        if world % px:
            raise ValueError(f"world {world} does not divide into columns of {px}")
        return cls(px, world // px, dist.get_rank())

    @property
    def coords(self):
        return self.rank % self.px, self.rank // self.px

    def neighbour(self, axis):
        x, y = self.coords
        if axis == "x":
            return self.rank if self.px == 1 else (x ^ 1) + y * self.px
        return self.rank if self.py == 1 else x + (y ^ 1) * self.px

    def leads(self, axis):
        column = self.coords[0]
        return column % 2 == 0
