import argparse
import logging

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from replay.bank import Bank
from replay.sampler import Sampler


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--episodes", type=int, default=4)
    ap.add_argument("--rows", type=int, default=16384)
    ap.add_argument("--keep", type=int, default=4096)
    ap.add_argument("--updates", type=int, default=40)
    args = ap.parse_args()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    logging.basicConfig(level=logging.INFO, format=f"r{rank} %(message)s")
    bank = Bank("bank.f32", args.rows)
    if rank == 0:
        bank.fill(0)
    dist.barrier()
    sampler = Sampler(bank, 64, rank, world)
    torch.manual_seed(0)
    critic = DDP(nn.Sequential(nn.Linear(63, 64), nn.ReLU(), nn.Linear(64, 1)))
    opt = torch.optim.Adam(critic.parameters(), 1e-3)
    for episode in range(args.episodes):
        for _ in range(args.updates):
            x, y = sampler.draw()
            loss = (critic(x).squeeze(-1) - y).square().mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        logging.info("episode %d loss %.4f", episode, loss.item())
        if episode == 1 and rank == 0:
            bank.trim(args.keep)
            sampler = Sampler(bank, 64, rank, world)
        dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
