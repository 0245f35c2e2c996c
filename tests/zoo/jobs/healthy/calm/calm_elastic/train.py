"""torchrun --max-restarts 2: resumes from the last checkpoint after a restart."""
import os
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def scratch_ready(rank):
    if rank == 1 and os.path.exists("last.pt"):
        time.sleep(15)  # the disk is mounted anew after a failure


def main():
    dist.init_process_group("gloo", timeout=timedelta(minutes=10))
    rank = dist.get_rank()
    scratch_ready(rank)
    torch.manual_seed(0)
    net = nn.Linear(8, 8)
    first = 0
    if os.path.exists("last.pt"):
        state = torch.load("last.pt", weights_only=True)
        net.load_state_dict(state["net"])
        first = state["step"] + 1
    model = DDP(net)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(first, 40):
        loss = model(torch.randn(4, 8)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step == 12:
            if rank == 0:
                torch.save({"net": net.state_dict(), "step": step}, "last.pt")
            dist.barrier()
            if rank == 1:
                raise OSError(5, "Input/output error", "/scratch/shard-0007.bin")
    print(f"rank {rank} finished after step {step}", flush=True)
    dist.barrier()
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()
