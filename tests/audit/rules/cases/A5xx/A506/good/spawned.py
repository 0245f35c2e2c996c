import os

import torch.distributed as dist
import torch.multiprocessing as mp
import wandb


def worker(gpu, args):
    args.gpu = gpu
    dist.init_process_group("nccl", rank=gpu, world_size=2)
    if args.gpu == 0:
        wandb.init(project="flow")


if __name__ == "__main__":
    os.environ["OMP_NUM_THREADS"] = "1"
    mp.spawn(worker, args=(None,), nprocs=2)
