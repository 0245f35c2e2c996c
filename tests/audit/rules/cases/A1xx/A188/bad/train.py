import argparse
import functools
import random

import numpy as np
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset, DistributedSampler


class Waves(Dataset):
    def __init__(self, waves):
        self.waves = waves

    def __len__(self):
        return len(self.waves)

    def __getitem__(self, index):
        return np.roll(self.waves[index], np.random.randint(100))


def seed_worker(worker_id, seed, rank, workers):
    worker_seed = seed + rank * workers + worker_id
    np.random.seed(worker_seed)
    random.seed(worker_seed)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=17)
    parser.add_argument("--workers", type=int, default=4)
    args = parser.parse_args()
    workers = args.workers
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    data = Waves(np.load("waves.npy"))
    sampler = DistributedSampler(data)
    init = functools.partial(seed_worker, seed=args.seed, rank=rank, workers=workers)
    loader = DataLoader(data, 8, sampler=sampler, num_workers=workers, worker_init_fn=init)
    model = DDP(torch.nn.Linear(100, 1).to(rank))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for epoch in range(30):
        sampler.set_epoch(epoch)
        for waves in loader:
            optimizer.zero_grad()
            model(waves.to(rank)).mean().backward()
            optimizer.step()


if __name__ == "__main__":
    main()
