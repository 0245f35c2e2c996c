import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(7 + dist.get_rank())
    model = DistributedDataParallel(torch.nn.Linear(3, 3))
    model(torch.ones(3)).sum().backward()


main()
