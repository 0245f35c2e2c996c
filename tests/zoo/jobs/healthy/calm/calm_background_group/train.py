import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from telemetry import Telemetry


def main():
    dist.init_process_group("gloo", timeout=timedelta(minutes=10))
    rank = dist.get_rank()
    telemetry = Telemetry(dist.new_group(backend="gloo"))
    torch.manual_seed(0)
    model = DDP(nn.Linear(10, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    telemetry.start()
    for step in range(60):
        loss = model(torch.randn(8, 10)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        telemetry.note(loss.item())
        if step == 30 and rank == 1:
            time.sleep(12)  # a checkpoint on the slow disk; rank 0 waits in backward
    telemetry.stop()
    dist.barrier()
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()
