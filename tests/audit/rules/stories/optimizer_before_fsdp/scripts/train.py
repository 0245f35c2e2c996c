import functools
import os
from datetime import timedelta

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp.wrap import size_based_auto_wrap_policy
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def _create_optimizer(cfg, model, stage):
    o = cfg["stages"][stage]["optimizer"]
    return torch.optim.AdamW(model.parameters(), lr=o["lr"], weight_decay=o["weight_decay"])


def setup_distributed():
    local_rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local_rank)
    dist.init_process_group("nccl", timeout=timedelta(minutes=10))
    return torch.device("cuda", local_rank), local_rank


def setup_fsdp2(model, local_rank):
    policy = functools.partial(size_based_auto_wrap_policy, min_num_params=1_000_000)
    return FSDP(model, auto_wrap_policy=policy, device_id=local_rank)


def train_operator(cfg):
    operator = nn.Sequential(*[nn.Sequential(nn.Linear(512, 512), nn.GELU()) for _ in range(8)])
    optimizer = _create_optimizer(cfg, operator, "operator")
    device, local_rank = setup_distributed()
    operator.to(device)
    if cfg["training"]["use_fsdp2"]:
        operator = setup_fsdp2(operator, local_rank)
    else:
        operator = DDP(operator, device_ids=[local_rank])
    t = torch.load("latents.pt", map_location="cpu", weights_only=True)
    ds = TensorDataset(t[:-1], t[1:])
    sampler = DistributedSampler(ds)
    loader = DataLoader(ds, batch_size=4, sampler=sampler)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for z0, z1 in loader:
            loss = nn.functional.mse_loss(operator(z0.to(device)), z1.to(device))
            loss.backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    train_operator({"training": {"use_fsdp2": True}, "stages": {"operator": {"optimizer": {"lr": 1e-4, "weight_decay": 0.02}}}})
