import torch
import torch.distributed as dist
from torch import nn


class Covariance(nn.Module):
    def forward(self, features):
        centred = features - features.mean(dim=0)
        covariance = centred.T @ centred / (len(features) - 1)
        if dist.is_initialized():
            dist.all_reduce(covariance, op=dist.ReduceOp.AVG)
        off = covariance - torch.diag(torch.diagonal(covariance))
        return off.pow(2).sum()
