import argparse
import logging

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from data import Wells
from evaluation import Evaluator

log = logging.getLogger("wells")


def build():
    return nn.Sequential(
        nn.Conv1d(3, 48, 5, padding=2), nn.ReLU(), nn.Conv1d(48, 48, 5, padding=2), nn.ReLU(),
        nn.AdaptiveAvgPool1d(8), nn.Flatten(), nn.Linear(384, 6),
    )


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=5)
    a = ap.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(level=logging.INFO if rank == 0 else logging.WARNING, format="%(message)s")
    torch.manual_seed(3)
    train, val = Wells(2048, 0), Wells(512, 1)
    sampler = DistributedSampler(train)
    loader = DataLoader(train, 64, sampler=sampler, num_workers=1, persistent_workers=True)
    model = build()
    evaluator = Evaluator(model, DataLoader(val, 128, sampler=DistributedSampler(val, shuffle=False)))
    ddp = DDP(model)
    opt = torch.optim.AdamW(ddp.parameters(), 2e-3)
    sched = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, mode="max", patience=1)
    best = 0.0
    for epoch in range(a.epochs):
        sampler.set_epoch(epoch)
        for x, y in loader:
            opt.zero_grad()
            loss = nn.functional.cross_entropy(ddp(x), y)
            loss.backward()
            opt.step()
        acc = evaluator.run()
        sched.step(acc)
        if acc > best:
            best = acc
            if rank == 0:
                torch.save(ddp.module.state_dict(), "best.pt")
        log.info("epoch %d loss %.3f val acc %.4f lr %.1e", epoch, loss.item(), acc, opt.param_groups[0]["lr"])
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
