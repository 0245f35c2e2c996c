import torch
from torch.nn.parallel import DistributedDataParallel as DDP


def maybe_compile(model, wanted):
    if not wanted:
        return model
    return torch.compile(model)


def student_of(teacher):
    faster = torch.compile(teacher)
    return torch.nn.Linear(faster.width, 1)


def build(net, teacher, wanted):
    net = student_of(teacher)
    net = DDP(net)
    return maybe_compile(net, wanted)
