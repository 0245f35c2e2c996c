import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def freeze(model, keep):
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(name.startswith(keep))


def after(net):
    model = DDP(net)
    for parameter in net.encoder.parameters():
        parameter.requires_grad = False
    return model


def thawed_after(net):
    net.encoder.requires_grad_(False)
    model = DDP(net)
    model.module.encoder.requires_grad_(True)
    return model


def on_one_rank(net):
    rank = dist.get_rank()
    if rank == 0:
        freeze(net, "head")
    return DDP(net)
