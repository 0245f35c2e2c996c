import os
import time
import urllib.request
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def pretrained(rank):
    size = [None]
    if rank == 0:
        with urllib.request.urlopen(os.environ["MIRROR"] + "/backbone.bin") as answer:
            size[0] = len(answer.read())
    dist.broadcast_object_list(size, src=0)
    return size[0]


def main():
    dist.init_process_group("gloo", timeout=timedelta(minutes=10))
    rank = dist.get_rank()
    got = pretrained(rank)
    torch.manual_seed(got)
    model = DDP(nn.Linear(10, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(50):
        loss = nn.functional.cross_entropy(model(torch.randn(8, 10)), torch.randint(3, (8,)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"rank {rank}: {got} bytes of weights, loss {loss.item():.3f}", flush=True)
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()
