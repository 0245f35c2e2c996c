import os
import random

import numpy as np
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from .actions import ActionChunks
from .paths import ProbabilityPath
from .velocity import Velocity


def seed_process(seed, rank):
    random.seed(seed + rank)
    np.random.seed(seed + rank)
    torch.manual_seed(seed + rank)


def work(rank, cfg, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=cfg.world_size)
    seed_process(cfg.seed, rank)
    data = ActionChunks(cfg.points, cfg.dim)
    sampler = DistributedSampler(data, cfg.world_size, rank, seed=cfg.seed)
    loader = DataLoader(data, cfg.batch_size, sampler=sampler, drop_last=True)
    model = DDP(Velocity(cfg.dim, cfg.width))
    path = ProbabilityPath(cfg.beta_a, cfg.seed)
    opt = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    step = 0
    for epoch in range(cfg.epochs):
        sampler.set_epoch(epoch)
        for x1 in loader:
            xt, t, target = path.draw(x1)
            loss = (model(xt, t) - target).square().mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            step += 1
            if step % cfg.log_every == 0 and rank == 0:
                print(f"epoch {epoch} step {step} fm-loss {loss.item():.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()
