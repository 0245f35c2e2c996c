import argparse

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from data import loader_of


def worker(gpu, gpus, args):
    rank = args.node_rank * gpus + gpu
    world = args.nodes * gpus
    torch.cuda.set_device(gpu)
    dist.init_process_group("nccl", init_method="env://", rank=rank, world_size=world)
    train, sampler = loader_of(torch.rand(640, 4), world, rank)
    test, _ = loader_of(torch.rand(64, 4), world, rank, shuffle=False)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for x in train:
            print(rank, x.sum().item())
        for x in test:
            print(rank, x.sum().item())
    dist.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, default=1)
    parser.add_argument("--node-rank", type=int, default=0)
    gpus = torch.cuda.device_count()
    mp.spawn(worker, args=(gpus, parser.parse_args()), nprocs=gpus)
