import os
import signal
import sys
import threading
import time

import torch
import torch.distributed as dist
from torch import nn

from loop import StopVote, clean


def preempt_after(seconds):
    threading.Thread(target=lambda: (time.sleep(seconds), os.kill(os.getpid(), signal.SIGUSR1)), daemon=True).start()


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    vote = StopVote()
    if rank == 1:
        preempt_after(4)
    torch.manual_seed(0)
    model = nn.parallel.DistributedDataParallel(nn.Linear(6, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    skipped = 0
    for step in range(100000):
        x = torch.randn(16, 6, generator=torch.Generator().manual_seed(step * 2 + rank))
        y = x.sum(1, keepdim=True)
        if rank == 0 and step in (11, 50):
            y[0] = float("nan")
        loss = nn.functional.mse_loss(model(x), y)
        if not clean(loss):
            skipped += 1
            print(f"rank {rank}: step {step} left out", flush=True)
            continue
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        time.sleep(0.01)
        if vote.agreed():
            print(f"rank {rank}: stopping after step {step}, {skipped} left out", flush=True)
            break
    dist.barrier()
    dist.destroy_process_group()
    sys.exit(0)


main()
