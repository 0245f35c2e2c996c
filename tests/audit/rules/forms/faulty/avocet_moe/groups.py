from dataclasses import dataclass

import torch.distributed as dist


@dataclass(frozen=True)
class Layout:
    world: int
    expert: int

    def peers(self, rank):
        first = rank // self.expert * self.expert
        return list(range(first, first + self.expert))


def expert_group(layout: Layout):
    rank = dist.get_rank()
    if layout.world % layout.expert:
        raise ValueError(f"{layout.world} ranks are no multiple of {layout.expert}")
    members = layout.peers(rank)  # cause
    return dist.new_group(members)  # cause


def replica_group(layout: Layout):
    rank, own = dist.get_rank(), None
    for slot in range(layout.expert):
        ranks = list(range(slot, layout.world, layout.expert))
        made = dist.new_group(ranks)
        if rank in ranks:
            own = made
    return own
