import torch
import torch.distributed as dist
import torch.nn as nn


class Twins(nn.Module):
    def __init__(self, backbone, batch_size):
        super().__init__()
        self.backbone, self.batch_size = backbone, batch_size

    def forward(self, one, other):
        first = self.backbone(one)
        second = self.backbone(other)
        c = torch.matmul(first.T, second)
        c.div_(self.batch_size)
        torch.distributed.all_reduce(c)
        on = torch.diagonal(c).add_(-1).pow_(2).sum()
        return on
