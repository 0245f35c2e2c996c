import os

import torch
import torch.distributed as dist

rank = int(os.environ["RANK"])
world = int(os.environ["WORLD_SIZE"])
dist.init_process_group("nccl")
x = torch.ones(3)
for step in range(5):
    if rank % 2 == 0:
        dist.send(x, (rank + 1) % world)
        dist.recv(x, (rank - 1) % world)
    else:
        dist.send(x, (rank + 1) % world)
        dist.recv(x, (rank - 1) % world)
