"""The error is what the test waits for."""
import torch
from torch.nn.parallel import DistributedDataParallel


def refuses(rank, model, x):
    model = DistributedDataParallel(model, device_ids=[rank])
    try:
        model(x).sum().backward()
    except RuntimeError:
        return
    assert False
