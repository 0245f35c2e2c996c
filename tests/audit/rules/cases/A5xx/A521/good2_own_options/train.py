import torch.distributed as dist

from options import read

args = read()
dist.init_process_group("nccl")
