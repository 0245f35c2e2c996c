import argparse
import logging

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from net import FrozenBottom
from recipe import Accumulator, cosine


def pairs(n=1500, length=14):
    g = torch.Generator().manual_seed(3)
    x = torch.randint(0, 50, (n, length), generator=g)
    y = torch.bucketize((x < 20).sum(1), torch.tensor([4, 6]))
    return TensorDataset(x, y)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=5)
    p.add_argument("--batch", type=int, default=8)
    p.add_argument("--accumulate", type=int, default=4)
    p.add_argument("--lr", type=float, default=3e-3)
    a = p.parse_args()
    dist.init_process_group("gloo")
    logging.basicConfig(level=logging.INFO if dist.get_rank() == 0 else logging.WARNING, format="%(message)s")
    torch.manual_seed(0)
    data = pairs()
    sampler = DistributedSampler(data)
    loader = DataLoader(data, a.batch, sampler=sampler)
    model = DistributedDataParallel(FrozenBottom())
    opt = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], a.lr)
    total = a.epochs * -(-len(loader) // a.accumulate)
    acc = Accumulator(model, opt, cosine(opt, total, max(1, total // 10)), a.accumulate)
    for epoch in range(a.epochs):
        sampler.set_epoch(epoch)
        model.train()
        loss = acc.epoch(loader, nn.functional.cross_entropy)
        logging.info("epoch %d loss %.3f updates %d/%d", epoch, loss, acc.updates, total)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
