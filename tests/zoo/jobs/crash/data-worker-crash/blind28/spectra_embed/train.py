import argparse
import logging

import numpy as np
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

from network import SpectrumEncoder, info_nce
from store import PairStore, SpectrumPairs


def get_args():
    parser = argparse.ArgumentParser("contrastive spectra")
    parser.add_argument("--folder", default="pool")
    parser.add_argument("--pairs", type=int, default=4096)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--mine-from", type=int, default=1, help="first epoch after which easy pairs are dropped")
    parser.add_argument("--keep", type=float, default=0.6)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--lr", type=float, default=1e-3)
    return parser.parse_args()


class Trainer:
    def __init__(self, args):
        self.args = args
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.store = PairStore(args.folder)
        if self.rank == 0:
            self.store.create(args.pairs, seed=3)
        dist.barrier()
        torch.manual_seed(0)
        self.model = DistributedDataParallel(SpectrumEncoder())
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=args.lr)
        self.set_data()

    def set_data(self):
        data = SpectrumPairs(self.store)
        self.sampler = DistributedSampler(data, shuffle=True, drop_last=True)
        self.loader = DataLoader(data, self.args.batch, sampler=self.sampler, num_workers=self.args.workers,
                                 persistent_workers=self.args.workers > 0, drop_last=True)
        self.hardness = torch.zeros(len(data))

    def epoch(self, number):
        self.sampler.set_epoch(number)
        self.model.train()
        total = 0.0
        for step, (pairs, index) in enumerate(self.loader):
            loss, each = info_nce(*self.model(pairs))
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.hardness[index] = each
            total += loss.item()
        return total / max(1, step + 1)

    def mine(self):
        """Rank 0 drops the easiest pairs from the pool; everybody has the same hardness after the reduction."""
        dist.all_reduce(self.hardness)
        if self.rank == 0:
            order = np.argsort(-self.hardness.numpy())
            keep = np.sort(order[: int(len(order) * self.args.keep)])
            self.store.rebuild(keep)
            logging.info("pool: %d pairs", len(self.store))
        dist.barrier()
        self.hardness.zero_()

    def fit(self):
        for number in range(self.args.epochs):
            loss = self.epoch(number)
            logging.info("epoch %d loss %.4f", number, loss)
            if number >= self.args.mine_from:
                self.mine()
        if self.rank == 0:
            torch.save(self.model.module.state_dict(), f"{self.args.folder}/encoder.pt")


if __name__ == "__main__":
    args = get_args()
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    logging.basicConfig(level=logging.INFO, format=f"%(levelname)s r{dist.get_rank()} %(message)s")
    Trainer(args).fit()
    dist.destroy_process_group()
