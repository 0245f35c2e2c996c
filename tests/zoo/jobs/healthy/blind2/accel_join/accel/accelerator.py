import contextlib
import warnings

import torch.distributed as dist
from torch.distributed.algorithms.join import Join
from torch.nn.parallel import DistributedDataParallel


class Accelerator:

    def __init__(self, even_batches=True):
        dist.init_process_group("gloo")
        self.even_batches = even_batches
        self.process_index, self.num_processes = dist.get_rank(), dist.get_world_size()

    def prepare(self, model):
        return DistributedDataParallel(model)

    @contextlib.contextmanager
    def join_uneven_inputs(self, joinables, even_batches=None):
        if even_batches is not None and even_batches != self.even_batches:
            warnings.warn(f"Overriding even_batches is only supported for map-style datasets, got {even_batches}")
        with Join(joinables, enable=True, throw_on_early_termination=False):
            yield

    def print(self, *args):
        if self.process_index == 0:
            print(*args, flush=True)

    def reduce_sum(self, tensor):
        dist.all_reduce(tensor)
        return tensor

    def end(self):
        dist.destroy_process_group()
