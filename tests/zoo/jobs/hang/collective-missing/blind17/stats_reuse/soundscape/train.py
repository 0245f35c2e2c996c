import argparse
import logging

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

from .cmvn import CMVN
from .features import Clips


def build():
    return nn.Sequential(nn.Conv1d(24, 32, 5, 2), nn.BatchNorm1d(32), nn.ReLU(), nn.Conv1d(32, 32, 3, 2), nn.ReLU(),
                         nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(32, 5))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--scratch", required=True)
    ap.add_argument("--epochs", type=int, default=3)
    ap.add_argument("--clips", type=int, default=1800)
    args = ap.parse_args()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    logging.basicConfig(level=logging.INFO, format=f"%(levelname)s r{rank} %(message)s")
    data = Clips(args.clips, rank, world)
    norm = CMVN.for_dataset(data, args.scratch)
    torch.manual_seed(0)
    model = DDP(build())
    opt = torch.optim.SGD(model.parameters(), 0.05, momentum=0.9)
    for epoch in range(args.epochs):
        right = seen = 0
        for x, y in DataLoader(data, 20, shuffle=True):
            logits = model(norm(x))
            loss = nn.functional.cross_entropy(logits, y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            right += (logits.argmax(1) == y).sum().item()
            seen += len(y)
        tally = torch.tensor([right, seen])
        dist.all_reduce(tally)
        if rank == 0:
            logging.info("epoch %d accuracy %.3f", epoch, tally[0] / tally[1])
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
