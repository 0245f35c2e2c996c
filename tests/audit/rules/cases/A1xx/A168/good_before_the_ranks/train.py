import os

import torch.distributed as dist
import torch.multiprocessing as mp


def worker(rank):
    dist.init_process_group("gloo", rank=rank, world_size=2)


def main():
    if not os.path.exists("out"):
        os.makedirs("out")
    mp.spawn(worker, nprocs=2)


if __name__ == "__main__":
    main()
