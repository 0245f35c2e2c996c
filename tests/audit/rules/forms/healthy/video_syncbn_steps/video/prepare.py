import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def to_channels_last(model):
    return model.to(memory_format=torch.channels_last_3d)


def wrap_ddp(model, local):
    return DDP(model, device_ids=[local], gradient_as_bucket_view=True)


def sync_norms(model):
    return nn.SyncBatchNorm.convert_sync_batchnorm(model)


STEPS = ("channels_last", "sync_bn", "ddp")


def prepare(model, local, steps=STEPS):
    table = {
        "channels_last": to_channels_last,
        "ddp": lambda m: wrap_ddp(m, local),
        "sync_bn": sync_norms,
    }
    model = model.cuda(local)
    for step in steps:
        model = table[step](model)
    return model
