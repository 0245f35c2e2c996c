"""A small stand-in for a launcher library: state, prepare(), logging."""
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler


class PreparedScheduler:
    def __init__(self, scheduler, num_processes, split_batches):
        self.scheduler, self.num_processes, self.split_batches = scheduler, num_processes, split_batches

    def step(self):
        if self.split_batches:
            self.scheduler.step()
            return
        for _ in range(self.num_processes):
            self.scheduler.step()

    def get_last_lr(self):
        return self.scheduler.get_last_lr()


class Launcher:
    def __init__(self, split_batches=False, seed=None):
        dist.init_process_group("gloo")
        torch.set_num_threads(1)
        self.rank, self.num_processes = dist.get_rank(), dist.get_world_size()
        self.split_batches = split_batches
        if seed is not None:
            torch.manual_seed(seed + self.rank)

    @property
    def is_main(self):
        return self.rank == 0

    def prepare(self, *objects):
        out = []
        for o in objects:
            if isinstance(o, torch.nn.Module):
                o = DistributedDataParallel(o)
            elif isinstance(o, DataLoader):
                bs = o.batch_size // self.num_processes if self.split_batches else o.batch_size
                o = DataLoader(o.dataset, bs, drop_last=True,
                               sampler=DistributedSampler(o.dataset, self.num_processes, self.rank, shuffle=True))
            elif isinstance(o, torch.optim.lr_scheduler.LRScheduler):
                o = PreparedScheduler(o, self.num_processes, self.split_batches)
            out.append(o)
        return out

    def mean(self, value):
        t = torch.tensor(float(value))
        dist.all_reduce(t)
        return (t / self.num_processes).item()

    def end(self):
        dist.barrier()
        dist.destroy_process_group()
