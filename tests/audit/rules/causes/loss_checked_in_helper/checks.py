import torch


def is_usable(loss):
    """Whether a loss may be stepped on: one bad batch must not kill the run."""
    return bool(torch.isfinite(loss))
