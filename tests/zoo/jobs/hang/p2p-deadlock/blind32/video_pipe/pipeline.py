import torch
import torch.distributed as dist


class Stage:
    """One stage of a chain of ranks; activations go forward, their gradients backward."""

    def __init__(self, module, width, micro_size):
        self.module = module
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.shape = (micro_size, width)
        self.first, self.last = self.rank == 0, self.rank == self.world - 1
        self.saved = []

    def recv_forward(self):
        x = torch.empty(self.shape)
        dist.recv(x, self.rank - 1)
        return x

    def send_forward(self, y):
        dist.send(y.detach().contiguous(), self.rank + 1)

    def recv_backward(self):
        g = torch.empty(self.shape)
        dist.recv(g, self.rank + 1)
        return g

    def send_backward(self, x):
        dist.send(x.grad.contiguous(), self.rank - 1)

    def run_forward(self, micro=None, grad=True):
        x = micro if self.first else self.recv_forward()
        if grad and not self.first:
            x.requires_grad_()
        with torch.set_grad_enabled(grad):
            y = self.module(x)
        if not self.last:
            self.send_forward(y)
        if grad:
            self.saved.append((x, y))
        return y

    def run_backward(self, loss=None):
        x, y = self.saved.pop(0)
        if self.last:
            loss.backward()
        else:
            y.backward(self.recv_backward())
        if not self.first:
            self.send_backward(x)
