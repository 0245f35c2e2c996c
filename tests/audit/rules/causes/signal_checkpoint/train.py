"""SIGUSR1 reaches one rank before the others: it alone goes to the checkpoint's gather."""
import signal

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

requested = False


def on_signal(number, frame):
    global requested
    requested = True


def checkpoint(state):
    parts = [None] * dist.get_world_size()
    dist.all_gather_object(parts, state)
    if dist.get_rank() == 0:
        torch.save(parts, "last.pt")


def main():
    signal.signal(signal.SIGUSR1, on_signal)
    dist.init_process_group("gloo")
    model = DDP(torch.nn.Linear(4, 1))
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(100):
        opt.zero_grad()
        model(torch.randn(8, 4)).mean().backward()
        opt.step()
        if requested:  # cause
            checkpoint({"step": step})  # cause
            break
    dist.destroy_process_group()


main()
