import torch
from torch.nn.parallel import DistributedDataParallel as DDP


def maybe_compile(model, wanted):
    if not wanted:
        return model
    return torch.compile(model)


def build(net, wanted):
    net = maybe_compile(net, wanted)
    return DDP(net)
