import os

import torch
import torch.distributed as dist


class Node:
    def __init__(self):
        self.size = int(os.environ["LOCAL_WORLD_SIZE"])
        self.rank = dist.get_rank()
        self.index = self.rank // self.size
        self.group = None
        for n in range(dist.get_world_size() // self.size):
            ranks = list(range(n * self.size, (n + 1) * self.size))
            group = dist.new_group(ranks, backend="gloo")
            if n == self.index:
                self.group = group

    @property
    def leader(self):
        return dist.get_rank(self.group) == 0  # cause

    def share(self, make):
        box = [make() if self.leader else None]  # cause
        dist.broadcast_object_list(box, src=0, group=self.group)  # cause
        return box[0]


def stage(src, scratch):
    os.makedirs(scratch, exist_ok=True)
    dst = os.path.join(scratch, os.path.basename(src))
    if not os.path.exists(dst):
        blob = torch.load(src, map_location="cpu", weights_only=True)
        torch.save(blob, dst + ".part")
        os.replace(dst + ".part", dst)
    return dst
