"""The run's name is told to the others by rank 0 alone: they never call broadcast_object_list."""
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class Experiment:
    def __init__(self, rank):
        self.rank = rank
        self.name = None

    @property
    def is_master(self):
        return self.rank == 0

    def share_name(self):
        box = [self.name]
        dist.broadcast_object_list(box, src=0)  # cause
        self.name = box[0]

    def setup(self):
        if self.is_master:  # cause
            self.name = time.strftime("%Y-%m-%d-%H%M")
            self.share_name()  # cause


def main():
    dist.init_process_group("gloo")
    experiment = Experiment(dist.get_rank())
    experiment.setup()
    model = DDP(torch.nn.Linear(2, 2))
    model(torch.ones(1, 2)).sum().backward()
    dist.destroy_process_group()


main()
