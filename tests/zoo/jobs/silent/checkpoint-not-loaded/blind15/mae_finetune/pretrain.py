import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import weights
from nets import MaskedAutoencoder
from shapes import images

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
model = DistributedDataParallel(MaskedAutoencoder())
opt = torch.optim.AdamW(model.parameters(), 1e-3)
data, _ = images(1024, 0)
g = torch.Generator().manual_seed(10 + rank)
for step in range(150):
    rows = data[torch.randint(len(data), (32,), generator=g)]
    keep = (torch.rand(32, 16, generator=g) > 0.5).float()
    loss = (((model(rows, keep) - rows) ** 2).mean(-1) * (1 - keep)).sum() / (1 - keep).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
if rank == 0:
    print(f"pretraining loss {loss.item():.3f}", flush=True)
    weights.save(model, sys.argv[1])
dist.barrier()
dist.destroy_process_group()
