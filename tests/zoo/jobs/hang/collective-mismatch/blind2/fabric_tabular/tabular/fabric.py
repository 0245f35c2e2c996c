"""A small stand-in for the parts of Fabric that this project uses."""
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler


class Fabric:

    def __init__(self, seed=0):
        self._seed = seed

    def launch(self):
        dist.init_process_group("gloo")
        torch.manual_seed(self._seed)

    @property
    def global_rank(self):
        return int(os.environ["RANK"])

    @property
    def world_size(self):
        return int(os.environ["WORLD_SIZE"])

    def barrier(self, name=None):
        dist.barrier()

    def print(self, *args):
        if self.global_rank == 0:
            print(*args, flush=True)

    def setup(self, module, optimizer):
        return DistributedDataParallel(module), optimizer

    def setup_dataloaders(self, dataset, batch_size):
        sampler = DistributedSampler(dataset, self.world_size, self.global_rank)
        return DataLoader(dataset, batch_size, sampler=sampler)

    def backward(self, loss):
        loss.backward()

    def all_reduce(self, value, reduce_op="mean"):
        value = torch.as_tensor(value, dtype=torch.float32).clone()
        dist.all_reduce(value)
        return value / self.world_size if reduce_op == "mean" else value
