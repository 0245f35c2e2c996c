import torch
from torch.optim.lr_scheduler import CosineAnnealingLR, LinearLR, MultiStepLR, SequentialLR


def both(opt_g, opt_d, milestones):
    sched_g = MultiStepLR(opt_g, milestones)
    sched_d = MultiStepLR(opt_d, milestones)
    return sched_g, sched_d


def one_after_another(model, head):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    fixed = torch.optim.SGD(head.parameters(), lr=0.1)
    first = CosineAnnealingLR(optimizer, 10)
    second = CosineAnnealingLR(optimizer, 100)
    return SequentialLR(optimizer, [first, second], milestones=[10]), fixed


def warmed(model, head):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    fixed = torch.optim.SGD(head.parameters(), lr=0.1)
    warmup = LinearLR(optimizer)
    main = CosineAnnealingLR(optimizer, 100)
    return warmup, main, fixed


def alone(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    coarse = MultiStepLR(optimizer, [100])
    fine = MultiStepLR(optimizer, [10, 20])
    return coarse, fine
