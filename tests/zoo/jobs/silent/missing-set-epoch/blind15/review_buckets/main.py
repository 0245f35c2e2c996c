import argparse
import logging

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader

from loop import Loop
from reviews import Pooled, Reviews, collate
from sampling import distributed_buckets

if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=4)
    p.add_argument("--batch", type=int, default=16)
    p.add_argument("--seed", type=int, default=9)
    a = p.parse_args()
    dist.init_process_group("gloo")
    logging.basicConfig(level=logging.INFO if dist.get_rank() == 0 else logging.WARNING, format="%(message)s")
    torch.manual_seed(a.seed)
    data = Reviews()
    loader = DataLoader(data, batch_sampler=distributed_buckets(data, a.batch, a.seed), collate_fn=collate)
    model = DistributedDataParallel(Pooled())
    loop = Loop(model, torch.optim.Adam(model.parameters(), 3e-3), loader)
    for number in range(a.epochs):
        loop.epoch(number)
    dist.destroy_process_group()
