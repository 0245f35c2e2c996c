import torch


def total_norm(parameters):
    return torch.stack([p.grad.norm() for p in parameters]).norm()


def squares(parameters, weight):
    return weight * sum((p**2).sum() for p in parameters)


def largest(parameters):
    return total_norm(parameters)
