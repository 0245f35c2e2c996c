import time

import torch
import torch.distributed as dist


class Session:
    """Opens the process group and closes it in good order."""

    def __init__(self, backend="gloo"):
        self.backend = backend
        self.started = time.time()

    def __enter__(self):
        dist.init_process_group(self.backend)
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        return self

    def __exit__(self, kind, value, trace):
        self.close()

    def close(self):
        dist.barrier()
        if self.rank == 0:
            print(f"session of {self.world} ranks closed after {time.time() - self.started:.1f} s", flush=True)
        dist.destroy_process_group()

    def mean(self, value):
        value = torch.as_tensor(value, dtype=torch.float32)
        dist.all_reduce(value)
        return value / self.world
