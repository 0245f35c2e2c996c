import os
from datetime import timedelta

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP

from latent_pairs import build_latent_pair_loader


def dataset_loader(cfg):
    return build_latent_pair_loader(cfg)


def make_operator(cfg):
    d = cfg["latent"]["dim"]
    return nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d))


def setup_distributed():
    if "RANK" in os.environ:
        local_rank = int(os.environ["LOCAL_RANK"])
        torch.cuda.set_device(local_rank)
        dist.init_process_group(backend="nccl", timeout=timedelta(minutes=10))
        return torch.device(f"cuda:{local_rank}"), True, dist.get_rank(), dist.get_world_size(), local_rank
    return torch.device("cuda" if torch.cuda.is_available() else "cpu"), False, 0, 1, 0


def train_operator(cfg, wandb_ctx=None, global_step=0):
    loader = dataset_loader(cfg)
    operator = make_operator(cfg)
    device, is_distributed, rank, world_size, local_rank = setup_distributed()
    operator.to(device)
    if is_distributed:
        operator = DDP(operator, device_ids=[local_rank], output_device=local_rank)
    optimizer = torch.optim.AdamW(operator.parameters(), lr=cfg["lr"])
    for epoch in range(cfg["epochs"]):
        sampler = getattr(loader, "sampler", None)
        if hasattr(sampler, "set_epoch"):
            sampler.set_epoch(epoch)
        for z0, z1 in loader:
            loss = nn.functional.mse_loss(operator(z0.to(device)), z1.to(device))
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
    if is_distributed:
        dist.destroy_process_group()


if __name__ == "__main__":
    train_operator({"latent": {"dim": 128}, "lr": 1e-4, "epochs": 3, "cache": "latents.pt", "batch_size": 4})
