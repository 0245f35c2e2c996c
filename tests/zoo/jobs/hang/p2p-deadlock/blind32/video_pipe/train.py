import argparse
import logging

import torch
import torch.distributed as dist
import torch.nn as nn

from feeding import ClipReader, Feeder
from pipeline import Stage

log = logging.getLogger("pipe")


def blocks(width, n):
    return nn.Sequential(*[nn.Sequential(nn.Linear(width, width), nn.Tanh()) for _ in range(n)])


def calibrate(stage, feeder, passes):
    """Runs a few clips through the chain and scales the last stage's output to unit variance."""
    spread = []
    for _ in range(passes):
        y = stage.run_forward(feeder.next_clip(), grad=False)
        spread.append(y.std())
    value = torch.stack(spread).mean()
    dist.broadcast(value, src=dist.get_world_size() - 1)
    return value.item()


def train_step(stage, feeder, optimizer, micro_batches):
    """All forwards, then all backwards."""
    losses = []
    for _ in range(micro_batches):
        y = stage.run_forward(feeder.next_micro())
        if stage.last:
            losses.append(nn.functional.mse_loss(y, feeder.next_target()) / micro_batches)
    for i in range(micro_batches):
        stage.run_backward(losses[i] if stage.last else None)
    nn.utils.clip_grad_norm_(stage.module.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
    return sum(l.item() for l in losses)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=100)
    p.add_argument("--width", type=int, default=64)
    p.add_argument("--micro-size", type=int, default=8)
    p.add_argument("--micro-batches", type=int, default=4)
    p.add_argument("--lr", type=float, default=1e-3)
    p.add_argument("--calibration", type=int, default=20)
    args = p.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s stage{rank} %(message)s")
    torch.manual_seed(rank)
    stage = Stage(blocks(args.width, 2), args.width, args.micro_size)
    feeder = Feeder(ClipReader(args.width), args.width, args.micro_size)
    spread = calibrate(stage, feeder, args.calibration)
    log.info("calibrated, spread of outputs %.3f", spread)
    optimizer = torch.optim.Adam(stage.module.parameters(), lr=args.lr)
    for step in range(args.steps):
        loss = train_step(stage, feeder, optimizer, args.micro_batches)
        if stage.last and step % 10 == 0:
            log.info("step %d loss %.4f", step, loss)
    dist.barrier()
    torch.save(stage.module.state_dict(), f"stage{rank}.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
