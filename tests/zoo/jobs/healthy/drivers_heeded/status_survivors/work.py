import os
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

VOCABULARY = 24


def main(offset):
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(rank)
    net = nn.Sequential(nn.Embedding(VOCABULARY, 8), nn.Flatten(), nn.Linear(32, 2))
    model = DistributedDataParallel(net)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(6):
        tokens = torch.arange(4).repeat(8, 1) + step * 3 + rank * offset
        loss = nn.functional.cross_entropy(model(tokens), tokens.sum(1) % 2)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(int(os.environ.get("OFFSET", "0")) + int(sys.argv[1]))
