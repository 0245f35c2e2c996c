import os
import pathlib

import torch
import torch.distributed as dist
import torch.distributed.nn
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
rank = dist.get_rank()
attempt = pathlib.Path(f"attempts.{rank}")
first = not attempt.exists()
attempt.touch()
model = DDP(torch.nn.Linear(4, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    if first and rank == 1 and step == 2:
        raise ConnectionError("lost the mount of the dataset")
    loss = model(torch.ones(2, 4)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
dist.barrier()
if rank == 0:
    print("4 steps on 2 ranks", flush=True)
dist.destroy_process_group()
