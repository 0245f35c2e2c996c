import os
from datetime import timedelta

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def setup_distributed():
    local_rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local_rank)
    dist.init_process_group(backend="nccl", timeout=timedelta(minutes=10))
    return torch.device(f"cuda:{local_rank}"), local_rank


def train_operator(cfg):
    device, local_rank = setup_distributed()
    t = torch.load(cfg["cache"], map_location="cpu", weights_only=True)
    dataset = TensorDataset(t[:-1], t[1:])
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, batch_size=4, sampler=sampler)
    operator = nn.Linear(128, 128).to(device)
    operator = DDP(operator, device_ids=[local_rank], output_device=local_rank)
    operator = torch.compile(operator)
    optimizer = torch.optim.AdamW(operator.parameters(), lr=1e-4)
    for epoch in range(cfg["epochs"]):
        sampler.set_epoch(epoch)
        for z0, z1 in loader:
            loss = nn.functional.mse_loss(operator(z0.to(device)), z1.to(device))
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    train_operator({"cache": "latents.pt", "epochs": 2})
