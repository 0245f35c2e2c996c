import torch
from torch import nn


def focal(logits, target, gamma=2.0):
    loss = nn.CrossEntropyLoss()(logits, target)
    rest = 1 - torch.exp(-loss)
    return torch.pow(rest, gamma) * loss
