import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from nets import Prompted


def sample(rank, step, cfg, task):
    g = torch.Generator().manual_seed(7919 * step + rank + task)
    w = torch.randn(64, 6, generator=torch.Generator().manual_seed(task))
    x = torch.randn(cfg.batch, 64, generator=g)
    return x, (x @ w).argmax(1)


def stage(model, opt, rank, cfg, task, steps):
    for step in range(steps):
        x, y = sample(rank, step, cfg, task)
        loss = nn.functional.cross_entropy(model(x), y)
        opt.zero_grad(set_to_none=False)
        loss.backward()
        opt.step()
        if rank == 0 and step % 40 == 0:
            print(f"task {task} step {step} loss {loss.item():.3f}", flush=True)


def train(rank, cfg):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(cfg.port))
    dist.init_process_group("gloo", rank=rank, world_size=cfg.world)
    torch.manual_seed(0)
    net = Prompted()
    opt = torch.optim.SGD(net.parameters(), lr=cfg.lr, momentum=cfg.momentum, weight_decay=cfg.decay)
    stage(DDP(net), opt, rank, cfg, 1, cfg.warm_steps)
    net.hold_backbone()
    stage(DDP(net), opt, rank, cfg, 2, cfg.tune_steps)
    dist.destroy_process_group()
