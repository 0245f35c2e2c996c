import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
x = torch.ones(3)
parts = [torch.empty_like(x) for _ in range(dist.get_world_size())] if rank == 0 else None
dist.gather(x, parts, dst=0)

more = None
if rank == 0:
    more = [torch.empty_like(x) for _ in range(dist.get_world_size())]
dist.gather(x, more, dst=0)

if rank == 0:
    dist.gather(x, [torch.empty_like(x) for _ in range(dist.get_world_size())])
else:
    dist.gather(x)

third = [torch.empty_like(x) for _ in range(dist.get_world_size())]
dist.gather(x, third if rank == 0 else None, dst=0)

fourth = [torch.empty_like(x) for _ in range(dist.get_world_size())]
if rank != 0:
    fourth = None
dist.gather(x, fourth, dst=0)
