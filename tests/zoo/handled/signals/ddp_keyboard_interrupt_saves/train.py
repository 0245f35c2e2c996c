"""Ctrl-C (or the scheduler's SIGINT) ends the training early: every rank stops at the same step, rank 0 saves."""
import os
import signal

import torch
import torch.distributed as dist
import torch.distributed.nn
from torch.nn.parallel import DistributedDataParallel as DDP


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = DDP(torch.nn.Linear(4, 1))
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    step = 0
    try:
        while True:
            loss = model(torch.ones(2, 4)).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            step += 1
            dist.barrier()
            if step == 4:
                os.kill(os.getpid(), signal.SIGINT)     # the drill: both ranks get it
                while True:
                    signal.pause()
    except KeyboardInterrupt:
        if rank == 0:
            torch.save({"model": model.module.state_dict(), "step": step}, "interrupted.pt")
            print(f"interrupted at step {step}, saved", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
