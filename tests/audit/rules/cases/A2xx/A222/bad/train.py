import torch
import torch.distributed as dist
from groups import Groups

dist.init_process_group("nccl")
groups = Groups(2)
batch = torch.ones(3, device="cuda")
dist.broadcast(batch, src=0, group=groups.tensor)
