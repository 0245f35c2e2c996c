import argparse
import copy
import logging

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

from .data import Demonstrations
from .model import FlowMatchingHead
from .utils import set_seed, setup

log = logging.getLogger("policy")


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--seed", type=int, default=42)
    p.add_argument("--steps", type=int, default=400)
    p.add_argument("--micro-batch-size", type=int, default=32)
    p.add_argument("--lr", type=float, default=1e-3)
    p.add_argument("--ema", type=float, default=0.99)
    p.add_argument("--log-every", type=int, default=50)
    return p.parse_args()


def endless(loader, sampler):
    epoch = 0
    while True:
        sampler.set_epoch(epoch)
        yield from loader
        epoch += 1


def update_average(avg, model, decay):
    with torch.no_grad():
        for a, p in zip(avg.parameters(), model.parameters()):
            a.lerp_(p, 1 - decay)


def main():
    args = parse()
    rank, world = setup()
    set_seed(args.seed)

    dataset = Demonstrations()
    sampler = DistributedSampler(dataset, world, rank, shuffle=True, seed=args.seed, drop_last=True)
    loader = DataLoader(dataset, args.micro_batch_size, sampler=sampler, drop_last=True)
    model = DDP(FlowMatchingHead())
    average = copy.deepcopy(model.module).eval().requires_grad_(False)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, betas=(0.9, 0.95), weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, args.steps)

    batches = endless(loader, sampler)
    meter = torch.zeros(2)
    for step in range(1, args.steps + 1):
        batch = next(batches)
        loss = model(batch["obs"], batch["actions"])
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        update_average(average, model.module, args.ema)
        meter += torch.tensor([loss.item(), 1.0])
        if step % args.log_every == 0:
            dist.all_reduce(meter)
            log.info("step %d loss %.4f lr %.2e", step, meter[0] / meter[1], scheduler.get_last_lr()[0])
            meter.zero_()
    plan = average.sample(dataset.obs[:256])
    end = dataset.obs[:256, :2] + plan[:, -1]
    goals = torch.tensor([[2.0, 0.0], [-2.0, 1.0]])
    log.info("distance to the next goal %.3f", torch.cdist(end, goals).min(1).values.mean())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
