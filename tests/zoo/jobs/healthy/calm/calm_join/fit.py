import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.join import Join
from torch.nn.parallel import DistributedDataParallel as DDP


def batches(rank):
    for i in range((6, 21)[rank]):
        if rank == 1:
            time.sleep(1.0)
        generator = torch.Generator().manual_seed(100 * rank + i)
        x = torch.randn(16, 8, generator=generator)
        yield x, x.sum(1, keepdim=True)


def main():
    dist.init_process_group("gloo", timeout=timedelta(minutes=15))
    rank = dist.get_rank()
    torch.manual_seed(0)
    model = DDP(nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    with Join([model]):
        for x, y in batches(rank):
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
    print(f"rank {rank} done, loss {loss.item():.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()
