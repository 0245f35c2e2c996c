import torch
from torch.nn import functional as F


def real(logits):
    return F.binary_cross_entropy_with_logits(logits, torch.ones_like(logits))


def fake(logits):
    return F.binary_cross_entropy_with_logits(logits, torch.zeros_like(logits))
