"""All parameters of a unit in one flat parameter, of which views are handed out."""
import torch
import torch.distributed as dist
from torch import nn


class FlatUnit(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module
        self.layout = []
        pieces = []
        for name, parameter in list(module.named_parameters()):
            self.layout.append((name, parameter.shape, parameter.numel()))
            pieces.append(parameter.detach().reshape(-1))
        self.flat_param = nn.Parameter(torch.cat(pieces))
        self._unregister()

    def _owner(self, name):
        *path, leaf = name.split(".")
        owner = self.module
        for part in path:
            owner = getattr(owner, part)
        return owner, leaf

    def _unregister(self):
        for name, _, _ in self.layout:
            owner, leaf = self._owner(name)
            delattr(owner, leaf)

    def _use_views(self):
        for (name, shape, _), piece in zip(self.layout, self.flat_param.split([n for _, _, n in self.layout])):
            owner, leaf = self._owner(name)
            setattr(owner, leaf, piece.view(shape))

    def forward(self, *inputs):
        self._use_views()
        return self.module(*inputs)

    def reduce_grad(self):
        dist.all_reduce(self.flat_param.grad)
        self.flat_param.grad.div_(dist.get_world_size())
