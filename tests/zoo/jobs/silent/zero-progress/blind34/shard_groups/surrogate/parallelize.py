from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard


def parallelize(model, world_size, reshard=True):
    mesh = init_device_mesh("cpu", (world_size,), mesh_dim_names=("dp",))
    policy = MixedPrecisionPolicy()
    for block in model.blocks:
        fully_shard(block, mesh=mesh, mp_policy=policy, reshard_after_forward=reshard)
    return fully_shard(model, mesh=mesh, mp_policy=policy)
