from datetime import timedelta

import torch.distributed as dist


def setup(settings):
    dist.init_process_group("gloo", timeout=timedelta(minutes=5))
    dist.init_process_group("gloo", None, timedelta(minutes=5))
    dist.init_process_group(**settings)
    dist.init_process_group(*settings)
    dist.new_group([0])


def alone(store):
    dist.init_process_group("gloo", store=store, rank=0, world_size=1)
    dist.init_process_group("fake", store=store, rank=0, world_size=8)
    dist.init_process_group(backend="mpi")
