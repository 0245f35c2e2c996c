import torch


def cross_entropy(logits, target):
    return -torch.log_softmax(logits, 1).gather(1, target[:, None])[:, 0]


def focal(logits, target, gamma=2.0):
    ce = cross_entropy(logits, target)
    return ((1 - torch.exp(-ce)) ** gamma * ce).mean()
