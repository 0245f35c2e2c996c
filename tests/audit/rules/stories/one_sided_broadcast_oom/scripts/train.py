import os
from datetime import timedelta

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def setup_distributed():
    if "RANK" in os.environ:
        local_rank = int(os.environ["LOCAL_RANK"])
        torch.cuda.set_device(local_rank)
        dist.init_process_group(backend="nccl", timeout=timedelta(minutes=10))
        return torch.device(f"cuda:{local_rank}"), True, dist.get_rank(), dist.get_world_size(), local_rank
    return torch.device("cuda"), False, 0, 1, 0


def make_loader(is_distributed):
    t = torch.load("latents.pt", map_location="cpu", weights_only=True)
    ds = TensorDataset(t[:-1], t[1:])
    sampler = DistributedSampler(ds) if is_distributed else None
    return DataLoader(ds, batch_size=4, sampler=sampler, shuffle=sampler is None), sampler


def train_operator(cfg):
    device, is_distributed, rank, world_size, local_rank = setup_distributed()
    loader, sampler = make_loader(is_distributed)
    operator = nn.Sequential(nn.Linear(128, 384), nn.GELU(), nn.Linear(384, 128)).to(device)
    if is_distributed:
        operator = DDP(operator, device_ids=[local_rank], output_device=local_rank)
    optimizer = torch.optim.AdamW(operator.parameters(), lr=2.5e-4)
    for epoch in range(cfg["epochs"]):
        if sampler is not None:
            sampler.set_epoch(epoch)
        for i, (z0, z1) in enumerate(loader):
            try:
                pred = operator(z0.to(device))
                loss = nn.functional.mse_loss(pred, z1.to(device))
                loss.backward()
            except RuntimeError as e:
                if "out of memory" in str(e).lower():
                    if rank == 0:
                        print("Warning: OOM encountered in operator step, skipping batch")
                    if is_distributed:
                        skip_flag = torch.tensor(1, device=device)
                        dist.broadcast(skip_flag, src=0)
                    optimizer.zero_grad(set_to_none=True)
                    torch.cuda.empty_cache()
                    continue
                raise
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
    if is_distributed:
        dist.destroy_process_group()


if __name__ == "__main__":
    train_operator({"epochs": 32})
