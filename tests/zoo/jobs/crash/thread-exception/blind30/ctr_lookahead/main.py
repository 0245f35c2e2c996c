import argparse
import sys

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP

from criteo import read_shards, write_day
from dlrm import DLRM
from pipeline import DataLoadingThread, TrainPipeline


def parse_args(argv):
    p = argparse.ArgumentParser(description="DLRM on click logs")
    p.add_argument("--data", default="day_0")
    p.add_argument("--batch_size", type=int, default=50)
    p.add_argument("--buckets", type=int, default=2000)
    p.add_argument("--embedding_dim", type=int, default=8)
    p.add_argument("--learning_rate", type=float, default=0.01)
    p.add_argument("--days", type=int, default=2)
    p.add_argument("--print_every", type=int, default=10)
    p.add_argument("--seed", type=int, default=0)
    return p.parse_args(argv)


def train_day(pipe, args, rank, world, day):
    pipe.attach(DataLoadingThread(read_shards(args.data, rank, world), args.batch_size, args.buckets))
    total, steps = torch.zeros(()), 0
    while True:
        try:
            total += pipe.progress()
        except StopIteration:
            break
        steps += 1
        if rank == 0 and steps % args.print_every == 0:
            print(f"day {day} step {steps} loss {(total / steps).item():.4f}", flush=True)
    return total / max(steps, 1)


def main(argv):
    args = parse_args(argv)
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.set_num_threads(1)
    if rank == 0:
        write_day(args.data, seed=args.seed)
    dist.barrier()
    torch.manual_seed(args.seed)
    model = DDP(DLRM(args.buckets, args.embedding_dim))
    optimizer = torch.optim.Adagrad(model.parameters(), lr=args.learning_rate)
    pipe = TrainPipeline(model, optimizer, nn.BCEWithLogitsLoss())
    for day in range(args.days):
        loss = train_day(pipe, args, rank, world, day)
        dist.all_reduce(loss)
        if rank == 0:
            print(f"day {day}: mean loss {loss.item() / world:.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1:])
