import torch
import torch.distributed as dist


class Channel:
    """Ordered exchange with one neighbour. Activations and gradients carry a ticket as their tag."""

    GRADIENT = 1 << 16

    def __init__(self, peer):
        self.peer = peer
        self.tickets = 0

    def ticket(self):
        self.tickets += 1
        return self.tickets

    def send(self, tensor, tag):
        dist.send(tensor.contiguous(), self.peer, tag=tag)

    def recv(self, shape, tag):
        buffer = torch.empty(shape)
        dist.recv(buffer, self.peer, tag=tag)
        return buffer
