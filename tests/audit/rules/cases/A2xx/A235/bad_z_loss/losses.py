import torch
import torch.distributed.nn.functional as dist_nn


def loss_with_z(logits, picked, weight=1e-4):
    top = logits.detach().amax(dim=-1)
    top = dist_nn.all_reduce(top, op=dist_nn.ReduceOp.MAX)
    total = dist_nn.all_reduce((logits - top.unsqueeze(-1)).exp().sum(dim=-1))
    loss = total.log() + top - picked
    loss += weight * torch.logsumexp(logits, dim=-1) ** 2
    return loss.mean()


def entropy(logits):
    top = logits.detach().amax(dim=-1, keepdim=True)
    top = dist_nn.all_reduce(top, op=dist_nn.ReduceOp.MAX)
    exp = (logits - top).exp()
    total = dist_nn.all_reduce(exp.sum(dim=-1, keepdim=True))
    expected = (exp / total * logits).sum(dim=-1)
    return (total.log() + top).squeeze(-1) - expected
