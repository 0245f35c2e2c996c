import os

import torch
import torch.distributed as dist
import torch.distributed.nn
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
torch.manual_seed(0)
dtype = {"fp16": torch.float16, "fp32": torch.float32}[os.environ["PRECISION"]]
model = DDP(torch.nn.Linear(8, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    scale = torch.tensor(2.0 ** 18).to(dtype)
    loss = model(torch.ones(4, 8)).float().pow(2).mean() * scale.float()
    total = loss.detach().clone()
    dist.all_reduce(total)
    if not torch.isfinite(total):
        raise FloatingPointError(f"loss overflowed at step {step} in {dtype}")
    opt.zero_grad()
    (loss / scale.float()).backward()
    opt.step()
dist.barrier()
if dist.get_rank() == 0:
    print("4 steps", flush=True)
dist.destroy_process_group()
