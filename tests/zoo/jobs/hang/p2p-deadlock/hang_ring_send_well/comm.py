import torch
import torch.distributed as dist


class Ring:
    def __init__(self):
        rank, world = dist.get_rank(), dist.get_world_size()
        self.next, self.previous = (rank + 1) % world, (rank - 1) % world

    def shift(self, block):
        """Gives `block` to the next rank and returns the one of the previous rank."""
        received = torch.empty_like(block)
        sent = dist.isend(block.contiguous(), dst=self.next)
        dist.recv(received, src=self.previous)
        sent.wait()
        return received
