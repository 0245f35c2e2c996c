import argparse

import torch
import torch.distributed as dist
import torch.distributed.nn
from torch.nn.parallel import DistributedDataParallel as DDP

parser = argparse.ArgumentParser()
parser.add_argument("--batch", type=int)
args = parser.parse_args()
dist.init_process_group("gloo")
if args.batch % dist.get_world_size():
    raise ValueError(f"global batch {args.batch} does not divide by {dist.get_world_size()} ranks")
model = DDP(torch.nn.Linear(3, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
model(torch.ones(args.batch // dist.get_world_size(), 3)).sum().backward()
opt.step()
dist.barrier()
dist.destroy_process_group()
