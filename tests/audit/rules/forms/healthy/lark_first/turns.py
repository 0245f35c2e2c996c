from contextlib import contextmanager

import torch.distributed as dist


@contextmanager
def chief_first():
    chief = dist.get_rank() == 0
    if not chief:
        dist.barrier()
    try:
        yield
    finally:
        if chief:
            dist.barrier()
