import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module


def make_mesh(tensor):
    world = dist.get_world_size()
    assert world % tensor == 0, f"{world} ranks are not a multiple of {tensor}"
    return init_device_mesh("cpu", (world // tensor, tensor), mesh_dim_names=("data", "tensor"))


def split_layers(model, mesh):
    plan = {name: ColwiseParallel() for name in ("query", "key", "value", "feed.up")}
    plan |= {name: RowwiseParallel() for name in ("out", "feed.down")}
    for layer in model.layers:
        parallelize_module(layer, mesh["tensor"], plan)
    return model


def average_gradients(model, group):
    """Mean over the replicas; a parameter's shard has the same place in each of them."""
    size = dist.get_world_size(group)
    for parameter in model.parameters():
        if parameter.grad is None:
            continue
        gradient = parameter.grad
        local = gradient.to_local() if hasattr(gradient, "to_local") else gradient
        dist.all_reduce(local, group=group)
        local.div_(size)
