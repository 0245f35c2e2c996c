import os
from dataclasses import dataclass

from torch.distributed.device_mesh import init_device_mesh


@dataclass
class ParallelDims:
    dp: int
    tp: int
    world_size: int

    def __post_init__(self):
        if self.dp == -1:
            self.dp = self.world_size // self.tp
        if self.dp * self.tp != self.world_size:
            raise ValueError(f"dp({self.dp}) * tp({self.tp}) != WORLD_SIZE({self.world_size})")

    @classmethod
    def from_args(cls, args):
        return cls(args.dp, args.tp, int(os.environ["WORLD_SIZE"]))

    def build_mesh(self):
        return init_device_mesh("cpu", (self.dp, self.tp), mesh_dim_names=("dp", "tp"))
