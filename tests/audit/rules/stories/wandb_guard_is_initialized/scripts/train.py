import os
import time
from datetime import timedelta

import torch
import torch.distributed as dist
import torch.nn as nn
import wandb
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def create_wandb_context(cfg):
    is_main = not dist.is_initialized() or dist.get_rank() == 0
    if not is_main:
        return None
    return wandb.init(project=cfg["project"], id=f"train-{time.strftime('%Y%m%d_%H%M%S')}")


def train_operator(cfg, run):
    local_rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local_rank)
    dist.init_process_group(backend="nccl", timeout=timedelta(minutes=10))
    t = torch.load("latents.pt", map_location="cpu", weights_only=True)
    ds = TensorDataset(t[:-1], t[1:])
    sampler = DistributedSampler(ds)
    loader = DataLoader(ds, batch_size=4, sampler=sampler)
    operator = DDP(nn.Linear(128, 128).cuda(), device_ids=[local_rank])
    opt = torch.optim.Adam(operator.parameters(), lr=1e-3)
    for epoch in range(cfg["epochs"]):
        sampler.set_epoch(epoch)
        for z0, z1 in loader:
            loss = nn.functional.mse_loss(operator(z0.cuda()), z1.cuda())
            opt.zero_grad()
            loss.backward()
            opt.step()
        if run is not None and dist.get_rank() == 0:
            run.log({"operator/loss": loss.item()})
    dist.destroy_process_group()


def train_all_stages(cfg):
    run = create_wandb_context(cfg)
    try:
        train_operator(cfg, run)
    finally:
        if run is not None:
            run.finish()


if __name__ == "__main__":
    train_all_stages({"project": "universal-simulator", "epochs": 4})
