import torch
import torch.distributed as dist


class GradientReducer:
    """Averages all gradients in one flat buffer."""

    def __init__(self, parameters):
        self.params = [p for p in parameters if p.requires_grad]
        self.world_size = dist.get_world_size()
        self.buffer = torch.zeros(sum(p.numel() for p in self.params))

    def broadcast_parameters(self):
        for p in self.params:
            dist.broadcast(p.data, src=0)

    def reduce(self):
        offset = 0
        for p in self.params:
            self.buffer[offset : offset + p.numel()].copy_(p.grad.flatten())
            offset += p.numel()
        dist.all_reduce(self.buffer)
        self.buffer /= self.world_size
        offset = 0
        for p in self.params:
            p.grad.copy_(self.buffer[offset : offset + p.numel()].view_as(p))
            offset += p.numel()
