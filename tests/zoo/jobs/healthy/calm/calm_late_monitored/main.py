import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

SHARD_ROWS = (20_000, 320_000)


def load_shard(rank):
    rows = torch.zeros(SHARD_ROWS[rank], 4)
    for start in range(0, len(rows), 10_000):
        rows[start : start + 10_000] = torch.randn(min(10_000, len(rows) - start), 4)
        time.sleep(0.4)
    return rows


def main():
    dist.init_process_group("gloo", timeout=timedelta(minutes=10))
    rank = dist.get_rank()
    rows = load_shard(rank)
    dist.monitored_barrier(timeout=timedelta(seconds=60), wait_all_ranks=True)
    torch.manual_seed(0)
    model = DistributedDataParallel(nn.Linear(4, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(80):
        x = rows[torch.randint(len(rows), (64,))]
        loss = model(x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            dist.monitored_barrier(timeout=timedelta(seconds=60))
    print(f"rank {rank}: loss {loss.item():.5f}", flush=True)
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()
