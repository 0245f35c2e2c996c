import torch
import torch.distributed as dist

dist.init_process_group("gloo")
x = torch.ones(3)
parts = [torch.empty_like(x) for _ in range(dist.get_world_size())]
dist.gather(x, parts, dst=0)
