"""Rank 0 gives up waiting and goes on; the others are in the barrier that it never came to."""
import logging

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from pause import CheckpointPause

logger = logging.getLogger(__name__)


def save(model, step, pause):
    try:
        pause.pause(step)
    except TimeoutError:  # cause
        logger.warning("inference was not paused, the checkpoint is written all the same")
    if dist.get_rank() == 0:
        torch.save(model.module.state_dict(), f"step-{step}.pt")
    dist.barrier()


def main():
    dist.init_process_group("gloo")
    model = DDP(torch.nn.Linear(8, 8))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    pause = CheckpointPause("run", dist.get_rank() == 0)
    for step in range(1000):
        optimizer.zero_grad()
        model(torch.randn(4, 8)).square().mean().backward()
        optimizer.step()
        if step % 100 == 0:
            save(model, step, pause)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
