import argparse
import logging

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader

from mt.batching import TokenBudget
from mt.corpus import Pairs, collate
from mt.loop import Fitter, Tagger

if __name__ == "__main__":
    cli = argparse.ArgumentParser()
    cli.add_argument("--max-tokens", type=int, default=320)
    cli.add_argument("--epochs", type=int, default=3)
    cli.add_argument("--seed", type=int, default=1)
    o = cli.parse_args()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    logging.basicConfig(level=logging.INFO, format=f"%(relativeCreated)d [{rank}] %(message)s")
    torch.manual_seed(o.seed)
    pairs = Pairs()
    loader = DataLoader(pairs, batch_sampler=TokenBudget(pairs.lengths, o.max_tokens, rank, world, o.seed), collate_fn=collate)
    model = DistributedDataParallel(Tagger())
    fitter = Fitter(model, torch.optim.Adam(model.parameters(), 1e-3))
    for n in range(o.epochs):
        fitter.epoch(loader, n)
    dist.destroy_process_group()
