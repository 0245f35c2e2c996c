"""A thin wrapper over torch.distributed in the manner of Accelerate."""
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


class PreparedScheduler:
    def __init__(self, scheduler, world, split_batches):
        self.scheduler = scheduler
        self.ticks = 1 if split_batches else world

    def step(self):
        for _ in range(self.ticks):
            self.scheduler.step()

    def get_last_lr(self):
        return self.scheduler.get_last_lr()

    def state_dict(self):
        return self.scheduler.state_dict()


class Launcher:
    def __init__(self, split_batches=False, clip=1.0):
        if not dist.is_initialized():
            dist.init_process_group("gloo")
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.split_batches = split_batches
        self.clip = clip
        self.samplers = []

    @property
    def is_main(self):
        return self.rank == 0

    def prepare(self, *objs):
        return tuple(self._prepare(o) for o in objs)

    def _prepare(self, obj):
        if isinstance(obj, torch.nn.Module):
            return DistributedDataParallel(obj)
        if isinstance(obj, DataLoader):
            bs = obj.batch_size // self.world if self.split_batches else obj.batch_size
            sampler = DistributedSampler(obj.dataset, self.world, self.rank, shuffle=True)
            self.samplers.append(sampler)
            return DataLoader(obj.dataset, bs, sampler=sampler, drop_last=True)
        if isinstance(obj, torch.optim.lr_scheduler.LRScheduler):
            return PreparedScheduler(obj, self.world, self.split_batches)
        return obj

    def backward(self, loss):
        loss.backward()

    def clip_grads(self, model):
        return torch.nn.utils.clip_grad_norm_(model.parameters(), self.clip)

    def new_epoch(self, epoch):
        for s in self.samplers:
            s.set_epoch(epoch)

    def gather_mean(self, t):
        t = t.detach().clone()
        dist.all_reduce(t)
        return (t / self.world).item()

    def finish(self):
        dist.barrier()
        dist.destroy_process_group()
