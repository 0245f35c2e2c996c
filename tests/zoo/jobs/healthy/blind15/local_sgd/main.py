import argparse
import logging

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from averaging import PeriodicAverager
from client import hospital

log = logging.getLogger("local-sgd")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--rounds", type=int, default=6)
    p.add_argument("--period", type=int, default=8)
    p.add_argument("--warmup", type=int, default=10)
    a = p.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(level=logging.INFO, format=f"site {rank}: %(message)s")
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(14, 48), nn.ReLU(), nn.Linear(48, 1))
    opt = torch.optim.SGD(model.parameters(), 0.05)
    averager = PeriodicAverager(model, a.period, a.warmup)
    loader = DataLoader(TensorDataset(*hospital(rank)), 30, shuffle=True, generator=torch.Generator().manual_seed(rank))
    for r in range(a.rounds):
        for x, y in loader:
            loss = nn.functional.binary_cross_entropy_with_logits(model(x).squeeze(1), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            averager.after_step()
        log.info("round %d loss %.3f", r, loss.item())
    averager.average()
    if rank == 0:
        torch.save(model.state_dict(), "global.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
