import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh

dist.init_process_group("nccl")
mesh = init_device_mesh("cuda", (2, 4), mesh_dim_names=("dp", "tp"))
batch = torch.ones(3, device="cuda")
dist.broadcast(batch, src=0, group=mesh.get_group("tp"))
