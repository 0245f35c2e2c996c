import torch
import torch.distributed as dist
from runs import Workspace


def main():
    dist.init_process_group("gloo")
    Workspace("out").reset()
    dist.all_reduce(torch.ones(1))
    dist.destroy_process_group()


main()
