import torch

from .p2p import Edge

GRAD_TAG = 10_000


class PipelineStage:

    def __init__(self, module, index, num_stages, shape):
        self.module, self.index, self.num_stages = module, index, num_stages
        self.prev = Edge(index - 1, shape) if index > 0 else None
        self.next = Edge(index + 1, shape) if index < num_stages - 1 else None
        self.cache = {}
        self.losses = []

    @property
    def is_first(self):
        return self.prev is None

    @property
    def is_last(self):
        return self.next is None

    def forward_one(self, mb, inputs, target, loss_fn):
        x = inputs if self.is_first else self.prev.pull(mb).requires_grad_()
        out = self.module(x)
        if self.is_last:
            out = loss_fn(out, target)
            self.losses.append(out.detach())
        self.cache[mb] = (x, out)
        return out

    def send_forward(self, mb):
        if not self.is_last:
            self.next.push(self.cache[mb][1], mb)

    def backward_one(self, mb):
        x, out = self.cache.pop(mb)
        if self.is_last:
            out.backward()
        else:
            torch.autograd.backward(out, self.next.pull(GRAD_TAG + mb))
        return x.grad if not self.is_first else None

    def send_backward(self, mb, grad):
        if not self.is_first:
            self.prev.push(grad, GRAD_TAG + mb)
