import torch


def class_counts(labels, certainty=None, classes=3):
    """How often each class occurs; an uncertain label counts for less."""
    if certainty is None:
        return torch.bincount(labels, minlength=classes)
    return torch.bincount(labels, weights=certainty.double(), minlength=classes)
