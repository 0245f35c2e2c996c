import torch


def slots(like, world):
    return [torch.empty_like(like)] * world  # cause
