"""Asked behind the call that makes the group, of the launcher's variable, or of what is only said."""

import os

import deepspeed
import torch.distributed as dist
import torchvision
from accelerate import Accelerator


def is_main():
    return not dist.is_initialized() or dist.get_rank() == 0


def rank():
    return dist.get_rank() if dist.is_initialized() else int(os.environ.get("RANK", 0))


def fetch(root):
    if is_main():
        torchvision.datasets.CIFAR10(root, download=True)
    if dist.is_initialized():
        dist.barrier()


def fetch_by_variable(root):
    if rank() == 0:
        torchvision.datasets.CIFAR10(root, download=True)


def with_engine(model, config):
    deepspeed.init_distributed()
    fetch("data")
    return deepspeed.initialize(model=model, config=config)


def with_engine_first(model, config):
    engine, _, _, _ = deepspeed.initialize(model=model, config=config)
    fetch("data")
    return engine


def by_variable(model, config):
    fetch_by_variable("data")
    return deepspeed.initialize(model=model, config=config)


def with_accelerate(model):
    if is_main():
        print("begins")
    accelerator = Accelerator()
    fetch("data")
    return accelerator.prepare(model)


with_engine(make(), {})
with_engine_first(make(), {})
by_variable(make(), {})
with_accelerate(make())
