import torch
import torch.distributed as dist


def shrink_everywhere(batch_size, rank):
    """Halve the batch size on all ranks."""
    batch_size //= 2
    batch_size.clamp_(min=1)
    dist.broadcast(batch_size, src=rank)


class Budget:
    """Keeps attention maps below the share of memory that this process was given."""

    def __init__(self, cells):
        self.cells = cells

    def check(self, lengths):
        wanted = int((lengths**2).sum())
        if wanted > self.cells:
            raise torch.OutOfMemoryError(f"attention maps need {wanted} cells, budget is {self.cells}")
