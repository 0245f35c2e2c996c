import argparse
import logging

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

from molecules import DataModule
from net import Pairwise

log = logging.getLogger("mol")


@torch.no_grad()
def validate(model, loader):
    model.eval()
    total = torch.zeros(2)
    for z, r, e in loader:
        total += torch.tensor([(model(z, r) - e).abs().sum(), float(len(e))])
    dist.all_reduce(total)
    model.train()
    return (total[0] / total[1]).item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=4)
    p.add_argument("--batch", type=int, default=32)
    p.add_argument("--seed", type=int, default=7)
    a = p.parse_args()
    dist.init_process_group("gloo")
    logging.basicConfig(level=logging.INFO if dist.get_rank() == 0 else logging.WARNING, format="%(message)s")
    torch.manual_seed(a.seed)
    data = DataModule(a.seed)
    train, valid = data.train_set(), data.valid_set()
    log.info("%d training and %d validation molecules", len(train), len(valid))
    sampler = DistributedSampler(train, seed=a.seed)
    train_loader = DataLoader(train, a.batch, sampler=sampler, drop_last=True)
    valid_loader = DataLoader(valid, a.batch, sampler=DistributedSampler(valid, shuffle=False))
    model = DistributedDataParallel(Pairwise())
    opt = torch.optim.Adam(model.parameters(), 3e-3)
    for epoch in range(a.epochs):
        sampler.set_epoch(epoch)
        for z, r, e in train_loader:
            loss = nn.functional.l1_loss(model(z, r), e)
            opt.zero_grad()
            loss.backward()
            opt.step()
        log.info("epoch %d train %.3f valid %.3f", epoch, loss.item(), validate(model, valid_loader))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
