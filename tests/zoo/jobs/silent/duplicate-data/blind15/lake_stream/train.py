import argparse
import logging

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader

from lake import EventStream, write
from model import Regressor

log = logging.getLogger("events")


def loader_for(args, epoch):
    return DataLoader(EventStream(args.lake, args.seed, epoch), args.batch, num_workers=args.workers,
                      multiprocessing_context="spawn", drop_last=True)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--lake", default="lake")
    p.add_argument("--epochs", type=int, default=2)
    p.add_argument("--batch", type=int, default=32)
    p.add_argument("--workers", type=int, default=2)
    p.add_argument("--seed", type=int, default=0)
    args = p.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(level=logging.INFO, format=f"[{rank}] %(message)s")
    if rank == 0:
        write(args.lake)
    dist.barrier()
    torch.manual_seed(args.seed)
    model = DistributedDataParallel(Regressor())
    opt = torch.optim.Adam(model.parameters(), 2e-3)
    for epoch in range(args.epochs):
        total = rows = 0
        for x, y in loader_for(args, epoch):
            loss = nn.functional.mse_loss(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total, rows = total + loss.item() * len(y), rows + len(y)
        log.info("epoch %d rows %d loss %.3f", epoch, rows, total / rows)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
