import torch
import torch.distributed as dist

dist.init_process_group("gloo")
x = torch.ones(3)
parts = [torch.zeros_like(x) for _ in range(dist.get_world_size())]
dist.all_gather(parts, x)
objects = [None] * dist.get_world_size()
dist.all_gather_object(objects, {"n": 3})
same = [x] * dist.get_world_size()
out = [torch.zeros_like(x) for _ in same]
dist.all_to_all(out, same)
