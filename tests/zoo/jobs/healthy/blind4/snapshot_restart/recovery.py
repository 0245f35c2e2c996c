"""Snapshots of all ranks, and the newest iteration of which all have one."""
import os
import re

import torch
import torch.distributed as dist


class DistributedSnapshots:
    def __init__(self, folder, rank):
        self.folder, self.rank = folder, rank

    def path(self, iteration):
        return os.path.join(self.folder, f"snapshot_{iteration}_{self.rank}")

    def save(self, iteration, state):
        torch.save(state, self.path(iteration) + ".part")
        os.replace(self.path(iteration) + ".part", self.path(iteration))

    def mine(self):
        pattern = re.compile(rf"snapshot_(\d+)_{self.rank}$")
        return sorted(int(m.group(1)) for m in map(pattern.match, os.listdir(self.folder)) if m)

    def maybe_resume(self):
        everybody = [None] * dist.get_world_size()
        dist.all_gather_object(everybody, self.mine())
        common = set.intersection(*map(set, everybody))
        if not common:
            return 0, None
        newest = max(common)
        return newest, torch.load(self.path(newest), weights_only=True)
