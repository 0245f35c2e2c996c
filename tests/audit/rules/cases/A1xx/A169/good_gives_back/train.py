import torch
import torch.distributed as dist
from convert import run as converted
from torch.nn.parallel import DistributedDataParallel


def main():
    dist.init_process_group("gloo")
    model = DistributedDataParallel(converted(torch.nn.Linear(3, 1)))
    model(torch.ones(1, 3)).sum().backward()


main()
