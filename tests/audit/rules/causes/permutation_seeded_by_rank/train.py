"""Indices are shuffled with the rank's own seed and then dealt out: some are seen twice, some never."""
import argparse
import os

import numpy as np
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Subset, TensorDataset

from data import chunk_of_rank


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=99)
    args = parser.parse_args()
    args.local_rank = int(os.environ["LOCAL_RANK"])
    np.random.seed(args.seed + args.local_rank)  # cause
    torch.manual_seed(args.seed + args.local_rank)
    dist.init_process_group("gloo")
    x = torch.arange(8192.0).reshape(-1, 8)
    data = TensorDataset(x, x.sum(1, keepdim=True))
    model = DDP(torch.nn.Linear(8, 1))
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(5):
        mine = Subset(data, chunk_of_rank(len(data), dist.get_rank(), dist.get_world_size()).tolist())
        for x, y in DataLoader(mine, batch_size=32, drop_last=True):
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
