import argparse
import time

import torch
import torch.distributed as dist

from checkpointing import load_checkpoint, print_rank_0, save_checkpoint
from layers import Model


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--dim", type=int, default=32)
    p.add_argument("--hidden", type=int, default=128)
    p.add_argument("--num-layers", type=int, default=2)
    p.add_argument("--train-iters", type=int, default=100)
    p.add_argument("--save-interval", type=int, default=50)
    p.add_argument("--log-interval", type=int, default=25)
    p.add_argument("--micro-batch-size", type=int, default=16)
    p.add_argument("--lr", type=float, default=1e-3)
    p.add_argument("--save", default=None)
    p.add_argument("--load", default=None)
    p.add_argument("--finetune", action="store_true")
    return p.parse_args()


def get_batch(args, iteration):
    g = torch.Generator().manual_seed(iteration)
    x = torch.randn(args.micro_batch_size, args.dim, generator=g)
    return x, torch.tanh(x.flip(1))


def train(args, model, optimizer, iteration, rank):
    started = time.time()
    while iteration < args.train_iters:
        x, y = get_batch(args, iteration)
        loss = (model(x) - y).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        iteration += 1
        if iteration % args.log_interval == 0:
            ms = (time.time() - started) * 1000 / args.log_interval
            started = time.time()
            print_rank_0(f" iteration {iteration:8d}/{args.train_iters:8d} | ms {ms:.1f} | lm loss: {loss.item():.6E}")
        if args.save and iteration % args.save_interval == 0:
            save_checkpoint(args, iteration, model, optimizer, rank)
    return iteration


def main():
    args = get_args()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    model = Model(args.dim, args.hidden, args.num_layers, world, rank)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    iteration = load_checkpoint(args, model, optimizer, rank) if args.load else 0
    iteration = train(args, model, optimizer, iteration, rank)
    print_rank_0(f"training finished at iteration {iteration}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
