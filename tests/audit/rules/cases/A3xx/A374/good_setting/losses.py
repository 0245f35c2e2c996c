import torch
import torch.nn.functional as F


def focal(logits, target, gamma=2.0, reduction="none"):
    ce = F.cross_entropy(logits, target, reduction=reduction)
    pt = torch.exp(-ce)
    return (1 - pt) ** gamma * ce


def old(logits, target, gamma=2.0):
    ce = F.cross_entropy(logits, target, reduce=False)
    return ((1 - torch.exp(-ce)) ** gamma * ce).mean()
