import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

if __name__ == "__main__":
    dist.init_process_group("gloo")
    DDP(torch.nn.Linear(4, 1))(torch.randn(2, 4)).sum().backward()
    dist.destroy_process_group()
