import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from metrics import Metrics


def main():
    dist.init_process_group("gloo", timeout=timedelta(minutes=10))
    metrics = Metrics(f"metrics-{dist.get_rank()}.jsonl")
    torch.manual_seed(0)
    model = DDP(nn.Linear(10, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(60):
        loss = model(torch.randn(8, 10)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        metrics.log(step=step, loss=loss.item())
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
