import torch
from torch.nn.parallel import DistributedDataParallel as DDP


def build(net, local_rank):
    net = torch.compile(net)
    return DDP(net, device_ids=[local_rank])


def build_in_one(net):
    return DDP(torch.compile(net, mode="max-autotune"))
