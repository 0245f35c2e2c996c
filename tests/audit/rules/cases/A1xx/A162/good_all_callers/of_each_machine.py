import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from data import loader_of


def worker(gpu, gpus, node):
    dist.init_process_group("nccl", init_method="env://", rank=node * gpus + gpu, world_size=2 * gpus)
    train, sampler = loader_of(torch.load("part.pt"), gpus, gpu)  # this machine has a part of its own
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for x in train:
            print(x.sum().item())
    dist.destroy_process_group()


if __name__ == "__main__":
    gpus = torch.cuda.device_count()
    mp.spawn(worker, args=(gpus, int(os.environ["NODE_RANK"])), nprocs=gpus)
