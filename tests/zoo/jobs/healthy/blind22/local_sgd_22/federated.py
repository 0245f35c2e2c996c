"""Local SGD: each site trains on its own, parameters are averaged every round."""
import logging
import os
import sys

import torch
import torch.distributed as dist
from torch import nn

from sites import Records, Unreadable

log = logging.getLogger("federated")


def average(model):
    flat = nn.utils.parameters_to_vector(model.parameters()).detach()
    dist.all_reduce(flat)
    nn.utils.vector_to_parameters(flat / dist.get_world_size(), model.parameters())


def local_round(model, opt, records, steps):
    done = 0
    for index in records.order():
        try:
            x, y = records[index]
        except Unreadable:
            log.exception("record %d of site %d is left out", index, records.site)
            continue
        loss = nn.functional.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        done += 1
        if done == steps:
            return loss.item()


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(level=logging.INFO, format=f"site {rank} %(levelname)s %(message)s")
    torch.manual_seed(100 + rank)
    model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 3))
    for p in model.parameters():
        dist.broadcast(p.data, src=0)
    records = Records(rank)
    for number in range(5):
        opt = torch.optim.SGD(model.parameters(), lr=0.1)
        loss = local_round(model, opt, records, steps=(30, 18, 24)[rank])
        average(model)
        log.info("round %d local loss %.3f", number, loss)
    dist.barrier()
    # the C libraries of the sites' drivers do not survive an orderly exit
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
