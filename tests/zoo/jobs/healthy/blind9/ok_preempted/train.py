import os
import signal
import threading
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from preempt import Preemption


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    preemption = Preemption()
    model = DDP(nn.Linear(5, 5))
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    if rank == 1:
        notice = threading.Timer(6.0, os.kill, (os.getpid(), signal.SIGUSR1))
        notice.daemon = True
        notice.start()
    step = 0
    while step < 100_000:
        x = torch.randn(8, 5)
        loss = (model(x) - x).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        time.sleep(0.02)
        step += 1
        if step % 5 == 0 and preemption.everywhere():
            if rank == 0:
                torch.save({"model": model.module.state_dict(), "step": step}, "/tmp/ok_preempted.pt")
            break
    dist.barrier()
    print(f"rank {rank} left at step {step} for requeue")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
