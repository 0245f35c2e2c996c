"""The same ranks wait on their way in and on their way out: nobody comes to them."""
import torch.distributed as dist


class Staggered:
    def __init__(self, local_rank):
        self.local_rank = local_rank

    def __enter__(self):
        if self.local_rank % 2 == 0:
            dist.barrier()
        return self

    def __exit__(self, *error):
        if self.local_rank % 2 == 0:
            dist.barrier()
