import os
from dataclasses import dataclass


@dataclass(frozen=True)
class Env:
    rank: int
    local_rank: int
    world_size: int
    local_world_size: int

    @classmethod
    def read(cls):
        e = os.environ
        return cls(int(e["RANK"]), int(e["LOCAL_RANK"]), int(e["WORLD_SIZE"]), int(e["LOCAL_WORLD_SIZE"]))

    @property
    def nodes(self):
        return self.world_size // self.local_world_size
