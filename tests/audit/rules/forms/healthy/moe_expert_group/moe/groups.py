from dataclasses import dataclass

import torch.distributed as dist


@dataclass
class ParallelDims:
    expert: int
    world: int

    def validate(self):
        if self.world % self.expert:
            raise ValueError(f"world {self.world} is no multiple of expert parallel {self.expert}")


class GroupRegistry:
    def __init__(self, dims: ParallelDims):
        dims.validate()
        self.dims = dims
        self.rank = dist.get_rank()
        self.expert_group = None
        self.replica_group = None

    def _expert_sets(self):
        e = self.dims.expert
        return [list(range(s, s + e)) for s in range(0, self.dims.world, e)]

    def _replica_sets(self):
        return [list(range(s, self.dims.world, self.dims.expert)) for s in range(self.dims.expert)]

    def _pick(self, sets):
        found = None
        for ranks in sets:
            group = dist.new_group(ranks)
            if self.rank in ranks:
                found = group
        return found

    def build(self):
        self.expert_group = self._pick(self._expert_sets())
        self.replica_group = self._pick(self._replica_sets())
        return self
