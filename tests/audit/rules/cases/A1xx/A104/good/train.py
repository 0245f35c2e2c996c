import re

import torch
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel as DDP

_NAMES = re.compile("weight")


def build(net, local_rank):
    net = DDP(net, device_ids=[local_rank])
    return torch.compile(net)


def sharded(net):
    for block in net.blocks:
        block.forward = torch.compile(block.forward)
        fully_shard(block)
    return fully_shard(net)


def other(net, teacher):
    teacher = torch.compile(teacher)
    return DDP(net), teacher
