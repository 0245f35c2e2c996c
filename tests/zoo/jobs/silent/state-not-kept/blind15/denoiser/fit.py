import argparse
import logging

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

from keeper import BestKeeper
from signals import NoisySignals

log = logging.getLogger("fit")


def network(width=24):
    return nn.Sequential(nn.Conv1d(1, width, 9, padding=4), nn.ReLU(), nn.Conv1d(width, width, 9, padding=4), nn.ReLU(),
                         nn.Conv1d(width, 1, 9, padding=4))


@torch.no_grad()
def evaluate(model, loader):
    acc = torch.zeros(2)
    for noisy, clean in loader:
        acc += torch.tensor([nn.functional.mse_loss(model(noisy), clean).item() * len(clean), len(clean)])
    dist.all_reduce(acc)
    return (acc[0] / acc[1]).item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=14)
    p.add_argument("--patience", type=int, default=6)
    p.add_argument("--lr", type=float, default=8e-3)
    a = p.parse_args()
    dist.init_process_group("gloo")
    logging.basicConfig(level=logging.INFO if dist.get_rank() == 0 else logging.WARNING, format="%(message)s")
    torch.manual_seed(4)
    train, valid = NoisySignals(240), NoisySignals(200, seed=1)
    sampler = DistributedSampler(train)
    loader = DataLoader(train, 8, sampler=sampler)
    held = DataLoader(valid, 25, sampler=DistributedSampler(valid, shuffle=False))
    model = DistributedDataParallel(network())
    opt = torch.optim.Adam(model.parameters(), a.lr)
    keeper = BestKeeper(a.patience)
    for epoch in range(a.epochs):
        sampler.set_epoch(epoch)
        for noisy, clean in loader:
            loss = nn.functional.mse_loss(model(noisy), clean)
            opt.zero_grad()
            loss.backward()
            opt.step()
        score = evaluate(model, held)
        log.info("epoch %d valid %.4f %s", epoch, score, "*" if keeper.offer(model.module, score, epoch) else "")
        if keeper.exhausted:
            break
    keeper.restore(model.module)
    log.info("final %.4f", evaluate(model, held))
    if dist.get_rank() == 0:
        torch.save(model.module.state_dict(), "denoiser.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
