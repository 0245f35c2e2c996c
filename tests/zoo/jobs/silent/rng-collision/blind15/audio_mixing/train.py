import argparse
import logging

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

from augment import training_chain
from clips import Keywords, backgrounds

log = logging.getLogger("kws")


def net(words=6):
    return nn.Sequential(nn.Conv1d(1, 24, 25, 4, 12), nn.ReLU(), nn.Conv1d(24, 32, 9, 2, 4), nn.ReLU(),
                         nn.AdaptiveAvgPool1d(4), nn.Flatten(), nn.Linear(128, words))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=4)
    p.add_argument("--batch", type=int, default=16)
    p.add_argument("--workers", type=int, default=2)
    p.add_argument("--seed", type=int, default=0)
    a = p.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(level=logging.INFO if rank == 0 else logging.WARNING, format="%(message)s")
    torch.manual_seed(a.seed)
    train = Keywords(1280, training_chain(a.seed * 1000 + rank, backgrounds()))
    valid = Keywords(256, seed=1)
    sampler = DistributedSampler(train, seed=a.seed)
    loader = DataLoader(train, a.batch, sampler=sampler, num_workers=a.workers, drop_last=True)
    held = DataLoader(valid, 64, sampler=DistributedSampler(valid, shuffle=False))
    model = DistributedDataParallel(net())
    opt = torch.optim.Adam(model.parameters(), 2e-3)
    for epoch in range(a.epochs):
        sampler.set_epoch(epoch)
        for wave, word in loader:
            loss = nn.functional.cross_entropy(model(wave), word)
            opt.zero_grad()
            loss.backward()
            opt.step()
        with torch.no_grad():
            hits = torch.tensor([sum((model(w).argmax(1) == y).sum().item() for w, y in held)])
        dist.all_reduce(hits)
        log.info("epoch %d loss %.3f valid %.3f", epoch, loss.item(), hits.item() / len(valid))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
