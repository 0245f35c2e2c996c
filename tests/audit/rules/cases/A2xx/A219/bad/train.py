import torch
import torch.distributed as dist

dist.init_process_group("gloo")
x = torch.ones(3)
parts = [torch.zeros_like(x)] * dist.get_world_size()
dist.all_gather(parts, x)
