import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh

dist.init_process_group("nccl")
mesh = init_device_mesh("cuda", (2, 4), mesh_dim_names=("dp", "tp"))
batch = torch.ones(3, device="cuda")
group = mesh.get_group("tp")
dist.broadcast(batch, group_src=0, group=group)
dist.broadcast(batch, src=dist.get_global_rank(group, 0), group=group)
dist.broadcast(batch, src=0)
dist.all_reduce(batch, group=group)

gloo = dist.new_group(backend="gloo")
dist.broadcast(batch.cpu(), src=0, group=gloo)
first = dist.new_group([0, 1])
if dist.get_rank() in (0, 1):
    dist.broadcast(batch, src=0, group=first)

flat = init_device_mesh("cuda", (8,))
dist.broadcast(batch, src=0, group=flat.get_group())
