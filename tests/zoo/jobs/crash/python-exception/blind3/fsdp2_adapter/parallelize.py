from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard


def parallelize(model, world_size, transformer_cls):
    """Shards each module of the class that the wrapping policy names."""
    mesh = init_device_mesh("cpu", (world_size,), mesh_dim_names=("dp_shard",))
    wrapped = 0
    for module in list(model.modules()):
        if isinstance(module, transformer_cls):
            fully_shard(module, mesh=mesh)
            wrapped += 1
    if wrapped == 0:
        raise ValueError(f"no module of type {transformer_cls.__name__} was found")
    return model
