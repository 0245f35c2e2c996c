"""Sharding of the model over the mesh (replicate, shard)."""
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard


def build_mesh(replicate, shard):
    world = dist.get_world_size()
    if shard == -1:
        shard = world // replicate
    if replicate * shard != world:
        raise ValueError(f"replicate {replicate} x shard {shard} is not the world of {world}")
    return init_device_mesh("cpu", (replicate, shard), mesh_dim_names=("replicate", "shard"))


def shard_mesh(mesh):
    """With one replica plain FSDP; else the shards of the replica that this rank belongs to."""
    return mesh["shard"]


def data_rank(mesh):
    """Every rank of the mesh reads samples of its own."""
    replicate, shard = mesh["replicate"], mesh["shard"]
    return replicate.get_local_rank() * shard.size() + shard.get_local_rank(), replicate.size() * shard.size()


def parallelize(model, mesh):
    sub = shard_mesh(mesh)
    for block in model.blocks:
        fully_shard(block, mesh=sub)
    fully_shard(model, mesh=sub)
    return model
