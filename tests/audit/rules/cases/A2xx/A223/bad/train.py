import torch
import torch.distributed as dist
from metrics import mean

dist.init_process_group("nccl")
print(mean(0.5, 3))
