from dataclasses import dataclass

import torch.distributed as dist


@dataclass
class Layout:
    rank: int
    world: int
    tp: int
    tp_group: object = None
    dp_group: object = None

    @property
    def tp_rank(self):
        return self.rank % self.tp

    @property
    def dp_rank(self):
        return self.rank // self.tp


def build_layout(tp):
    world, rank = dist.get_world_size(), dist.get_rank()
    if world % tp:
        raise ValueError(f"world {world} is not a multiple of tp {tp}")
    layout = Layout(rank, world, tp)
    for start in range(0, world, tp):
        members = list(range(start, start + tp))
        group = dist.new_group(members)
        if rank in members:
            layout.tp_group = group
    for lane in range(tp):
        members = list(range(lane, world, tp))
        group = dist.new_group(members)
        if rank in members:
            layout.dp_group = group
    return layout
