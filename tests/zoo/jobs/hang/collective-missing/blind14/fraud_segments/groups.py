import torch.distributed as dist

SEGMENTS = {"retail": (0, 1), "corporate": (2,)}


class SegmentComm:
    """Reduction within the workers which serve the same customer segment."""

    def __init__(self):
        rank = dist.get_rank()
        for name, members in SEGMENTS.items():
            group = dist.new_group(list(members))
            if rank in members:
                self.name, self.members, self.group = name, members, group
        self.alone = len(self.members) == 1

    def mean_(self, tensor):
        if self.alone:
            return tensor
        dist.all_reduce(tensor, group=self.group)
        tensor /= len(self.members)
        return tensor

    def exchange(self, value):
        if self.alone:
            return [(self.name, value)]
        entries = [None] * dist.get_world_size()
        dist.all_gather_object(entries, (self.name, value))
        return entries
