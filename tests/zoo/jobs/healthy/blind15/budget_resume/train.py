import argparse
import logging
import os
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

import state
from records import Blobs


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--state", required=True)
    p.add_argument("--epochs", type=int, default=4)
    p.add_argument("--batch", type=int, default=16)
    p.add_argument("--slot-steps", type=int, default=100)
    a = p.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(level=logging.INFO if rank == 0 else logging.WARNING, format="%(message)s")
    torch.manual_seed(0)
    data = Blobs()
    sampler = DistributedSampler(data, seed=2)
    net = nn.Sequential(nn.Linear(10, 48), nn.ReLU(), nn.Linear(48, 2))
    opt = torch.optim.AdamW(net.parameters(), 3e-3)
    loader = DataLoader(data, a.batch, sampler=sampler)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, a.epochs * len(loader))
    begin, offset = state.load(a.state, net, opt, sched)
    logging.info("from epoch %d batch %d", begin, offset)
    model = DistributedDataParallel(net)
    left = a.slot_steps
    for epoch in range(begin, a.epochs):
        sampler.set_epoch(epoch)
        for i, (x, y) in enumerate(loader):
            if i < offset:
                continue
            loss = nn.functional.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
            left -= 1
            if left == 0:
                dist.barrier()
                if rank == 0:
                    state.save(a.state, net, opt, sched, epoch, i + 1)
                    open(os.path.join(os.path.dirname(a.state), "pause"), "w").close()
                dist.barrier()
                dist.destroy_process_group()
                logging.info("slot used up at epoch %d batch %d, loss %.3f", epoch, i, loss.item())
                sys.exit(85)
        offset = 0
        logging.info("epoch %d loss %.3f", epoch, loss.item())
    dist.barrier()
    if rank == 0:
        state.save(a.state, net, opt, sched, a.epochs, 0)
        open(os.path.join(os.path.dirname(a.state), "complete"), "w").close()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
