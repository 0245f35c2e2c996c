import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def main():
    dist.init_process_group(backend="nccl")
    model = DistributedDataParallel(torch.nn.Linear(2, 1).cuda())
    model(torch.ones(1, 2, device="cuda")).sum().backward()


if __name__ == "__main__":
    main()
