import torch
import torch.distributed as dist
from groups import Topology


def main():
    dist.init_process_group("gloo")
    topology = Topology(2)
    dist.all_reduce(torch.ones(1), group=topology.group)
    dist.destroy_process_group()


main()
