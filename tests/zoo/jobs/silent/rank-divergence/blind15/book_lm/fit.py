import argparse
import logging

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.join import Join
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader

from corpus import ChapterStream
from lm import RecurrentLM

log = logging.getLogger("books")


class Fit:
    def __init__(self, args):
        self.rank, world = dist.get_rank(), dist.get_world_size()
        torch.manual_seed(args.seed)
        self.model = DistributedDataParallel(RecurrentLM())
        self.opt = torch.optim.AdamW(self.model.parameters(), args.lr, weight_decay=0.01)
        self.stream = ChapterStream(self.rank, world, seed=args.seed)
        self.loader = DataLoader(self.stream, args.batch)
        self.steps = 0

    def step(self, rows):
        logits = self.model(rows[:, :-1])
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten())
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        self.steps += 1
        return loss.item()

    def epoch(self, number):
        self.stream.epoch = number
        last = None
        with Join([self.model]):
            for rows in self.loader:
                last = self.step(rows)
        log.info("epoch %d steps %d loss %.3f", number, self.steps, last)


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=4)
    p.add_argument("--batch", type=int, default=12)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--seed", type=int, default=0)
    args = p.parse_args()
    dist.init_process_group("gloo")
    logging.basicConfig(level=logging.INFO, format=f"[{dist.get_rank()}] %(message)s")
    fit = Fit(args)
    for number in range(args.epochs):
        fit.epoch(number)
    if fit.rank == 0:
        torch.save(fit.model.module.state_dict(), "books.pt")
    dist.destroy_process_group()
