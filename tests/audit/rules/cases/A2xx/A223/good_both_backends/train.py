import torch
import torch.distributed as dist

dist.init_process_group("cpu:gloo,cuda:nccl")
total = torch.tensor([0.5, 3.0])
dist.all_reduce(total)
