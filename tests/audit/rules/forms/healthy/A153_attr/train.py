import torch
import torch.distributed as dist
from runtime import Runtime
from torch.nn.parallel import DistributedDataParallel as DDP


def main():
    runtime = Runtime()
    dist.init_process_group("nccl")
    torch.cuda.set_device(runtime.device)
    model = DDP(torch.nn.Linear(4, 4).to(runtime.device))
    model(torch.ones(2, 4, device=runtime.device)).sum().backward()
    dist.destroy_process_group()


main()
