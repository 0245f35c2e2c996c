import torch
import torch.distributed as dist

dist.init_process_group("nccl")
with torch.device("cuda"):
    total = torch.tensor([0.5, 3.0])
dist.all_reduce(total)
