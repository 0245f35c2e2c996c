import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module


def mesh_of(tp):
    return init_device_mesh("cpu", (dist.get_world_size() // tp, tp), mesh_dim_names=("dp", "tp"))


def apply(model, mesh):
    for block in model.blocks:
        parallelize_module(block, mesh["tp"], {"unit.gate": ColwiseParallel(), "unit.up": ColwiseParallel(),
                                               "unit.down": RowwiseParallel()})
        fully_shard(block, mesh=mesh["dp"])
    return fully_shard(model, mesh=mesh["dp"])
