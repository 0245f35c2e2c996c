import contextlib

import torch.distributed as dist


@contextlib.contextmanager
def main_process_first():
    """Rank 0 runs the block before all other ranks do."""
    if dist.get_rank() != 0:
        dist.barrier()
    yield
    if dist.get_rank() == 0:
        dist.barrier()
