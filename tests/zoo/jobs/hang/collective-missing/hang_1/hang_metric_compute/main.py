import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from metrics import MeanMetric
from problem import batches, make_model

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(11)
model = DDP(make_model())
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
train_loss, residual = MeanMetric(), MeanMetric()

for epoch in range(4):
    for points, target in batches(rank, epoch):
        out = model(points)
        loss = (out - target).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        train_loss.update(loss.detach(), len(points))
        residual.update((out - target).abs().max().detach())
    mean = train_loss.compute()
    if rank == 0:
        print(f"epoch {epoch}: loss {mean:.4f}", flush=True)
    if rank == 0 and epoch == 3:
        print(f"worst residual on average {residual.compute():.4f}", flush=True)
    train_loss.reset()

dist.barrier()
dist.destroy_process_group()
time.sleep(0.5)
