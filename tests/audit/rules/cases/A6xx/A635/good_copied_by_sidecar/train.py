import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from net import Net, batches, options

args = options()
dist.init_process_group("nccl")
model = DDP(Net().cuda())
optimizer = torch.optim.SGD(model.parameters(), 0.1)
start = 0
if os.path.exists(args.checkpoint):
    state = torch.load(args.checkpoint, map_location="cpu")
    model.module.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    start = state["epoch"] + 1
for epoch in range(start, 90):
    for batch in batches(epoch):
        optimizer.zero_grad()
        model(batch).backward()
        optimizer.step()
    if dist.get_rank() == 0:
        state = {"model": model.module.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}
        torch.save(state, args.checkpoint)
    dist.barrier()
dist.destroy_process_group()
