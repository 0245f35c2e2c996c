import os
from datetime import timedelta

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def setup_fsdp2(model, cfg, local_rank):
    from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
    from torch.distributed.fsdp import MixedPrecision, ShardingStrategy
    from torch.distributed.fsdp.wrap import size_based_auto_wrap_policy

    mixed = None
    if cfg["training"].get("amp"):
        mixed = MixedPrecision(param_dtype=torch.bfloat16, reduce_dtype=torch.bfloat16, buffer_dtype=torch.float32)
    auto_wrap_policy = size_based_auto_wrap_policy
    return FSDP(
        model,
        sharding_strategy=ShardingStrategy.FULL_SHARD,
        mixed_precision=mixed,
        auto_wrap_policy=auto_wrap_policy,
        device_id=local_rank,
    )


def main(cfg):
    local_rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local_rank)
    dist.init_process_group("nccl", timeout=timedelta(minutes=10))
    net = nn.Sequential(*[nn.Linear(512, 512) for _ in range(12)])
    operator = setup_fsdp2(net, cfg, local_rank)
    optimizer = torch.optim.AdamW(operator.parameters(), lr=1e-4)
    t = torch.load("latents.pt", map_location="cpu", weights_only=True)
    ds = TensorDataset(t[:-1], t[1:])
    sampler = DistributedSampler(ds)
    loader = DataLoader(ds, batch_size=cfg["training"]["batch_size"], sampler=sampler)
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for z0, z1 in loader:
            loss = nn.functional.mse_loss(operator(z0.cuda()), z1.cuda())
            loss.backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main({"training": {"amp": True, "batch_size": 4, "num_gpus": 2}})
