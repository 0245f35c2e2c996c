import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler


class PreparedScheduler:
    def __init__(self, inner, num_processes):
        self.inner = inner
        self.num_processes = num_processes

    def step(self):
        for _ in range(self.num_processes):
            self.inner.step()

    def get_last_lr(self):
        return self.inner.get_last_lr()


class Accel:
    def __init__(self):
        dist.init_process_group("gloo")
        self.rank = dist.get_rank()
        self.num_processes = dist.get_world_size()

    @property
    def is_main(self):
        return self.rank == 0

    def prepare_loader(self, dataset, batch):
        self.sampler = DistributedSampler(dataset)
        return DataLoader(dataset, batch, sampler=self.sampler, drop_last=True)

    def prepare(self, *objs):
        out = []
        for o in objs:
            if isinstance(o, torch.nn.Module):
                o = DDP(o)
            elif isinstance(o, torch.optim.lr_scheduler.LRScheduler):
                o = PreparedScheduler(o, self.num_processes)
            out.append(o)
        return out

    def close(self):
        dist.destroy_process_group()
