import contextlib
import json
import logging
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

import optim
from task import Entail, PairEncoder

log = logging.getLogger("glue")


def run(cfg):
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(cfg["seed"])
    data = Entail()
    sampler = DistributedSampler(data, world, rank, seed=cfg["seed"])
    loader = DataLoader(data, cfg["batch"], sampler=sampler, drop_last=True)
    model = DistributedDataParallel(PairEncoder())
    opt, schedule, p = optim.build(model, loader, cfg, world)
    log.info("%d batches an epoch, plan %s", len(loader), p)
    updates, k = 0, cfg["accumulate"]
    for epoch in range(cfg["epochs"]):
        sampler.set_epoch(epoch)
        for i, (x, y) in enumerate(loader):
            last = (i + 1) % k == 0
            with contextlib.nullcontext() if last else model.no_sync():
                loss = nn.functional.cross_entropy(model(x), y) / k
                loss.backward()
            if last:
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                opt.step()
                schedule.step()
                opt.zero_grad()
                updates += 1
        log.info("epoch %d updates %d loss %.3f", epoch, updates, loss.item() * k)


if __name__ == "__main__":
    with open(sys.argv[1]) as f:
        config = json.load(f)
    dist.init_process_group("gloo")
    logging.basicConfig(level=logging.INFO if dist.get_rank() == 0 else logging.WARNING, format="%(message)s")
    run(config)
    dist.destroy_process_group()
