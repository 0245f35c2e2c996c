import argparse

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler, IterableDataset

from songs import Songs


class Stream(IterableDataset):
    def __init__(self, length, seed):
        self.length, self.seed = length, seed

    def __iter__(self):
        generator = torch.Generator().manual_seed(self.seed)
        while True:
            yield torch.randn(self.length, generator=generator)


class Session:
    def __init__(self, args):
        self.sampler = DistributedSampler(Songs(args.root), seed=args.seed)
        self.loader = DataLoader(Songs(args.root), 8, sampler=self.sampler)
        self.extra = DataLoader(Stream(16, 1 + dist.get_rank()), 8)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root")
    parser.add_argument("--seed", type=int, default=0)
    dist.init_process_group("gloo")
    Session(parser.parse_args())


if __name__ == "__main__":
    main()
