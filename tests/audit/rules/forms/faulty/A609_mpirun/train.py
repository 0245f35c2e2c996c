import os
import torch
import torch.distributed as dist


def main():
    rank = int(os.environ["RANK"])
    dist.init_process_group("gloo", rank=rank, world_size=int(os.environ["WORLD_SIZE"]))
    dist.all_reduce(torch.ones(1))
    dist.destroy_process_group()


main()
