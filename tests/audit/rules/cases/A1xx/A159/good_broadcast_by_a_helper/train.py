"""One helper gives the seeds of the ranks and those of the order; the latter are the same on all of them."""
import argparse
import random

import torch
import torch.distributed as dist
from torch.utils.data import DistributedSampler


def broadcast_seeds(seeds, device):
    told = torch.tensor(seeds).to(device)
    dist.broadcast(told, 0)
    return told.tolist()


def seeds_of(master, epochs, device):
    source = random.Random(master)
    own = [source.randint(0, 99) for _ in range(dist.get_world_size())]
    order = [source.randint(0, 99) for _ in range(epochs)]
    own = broadcast_seeds(own, device)
    order = broadcast_seeds(order, device)
    return own, order


def loader(data, flags):
    return DistributedSampler(data, seed=flags.order, drop_last=True)


def main():
    flags = argparse.ArgumentParser().parse_args()
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    device = torch.device("cuda", rank)
    own, order = seeds_of(flags.seed, flags.epochs, device)
    mine = own[rank]
    flags.seed = mine
    flags.order = order[0]
    return loader(range(8), flags)


main()
