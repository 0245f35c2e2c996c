import torch
import torch.distributed as dist

dist.init_process_group("nccl")
total = torch.tensor([0.5, 3.0], device="cuda")
dist.all_reduce(total)
moved = torch.tensor([0.5, 3.0]).cuda()
dist.all_reduce(moved)
later = torch.zeros(2)
later = later.to("cuda")
dist.all_reduce(later)
