import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp import ShardingStrategy, fully_shard
from torch.distributed.fsdp.sharded_grad_scaler import ShardedGradScaler
from torch.nn.parallel import DistributedDataParallel as DDP


def run(model, scaler, data):
    optimizer = torch.optim.AdamW(model.parameters())
    for x in data:
        scaler.scale(model(x).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()


def main():
    dist.init_process_group("nccl")
    data = torch.load("data.pt")
    run(FSDP(nn.Linear(8, 8).cuda()), ShardedGradScaler(), data)
    run(FSDP(nn.Linear(8, 8).cuda()), torch.amp.GradScaler("cuda", enabled=False), data)
    run(FSDP(nn.Linear(8, 8).cuda(), sharding_strategy=ShardingStrategy.NO_SHARD), torch.amp.GradScaler("cuda"), data)
    run(DDP(nn.Linear(8, 8).cuda()), torch.amp.GradScaler("cuda"), data)
    run(fully_shard(nn.Linear(8, 8).cuda()), torch.amp.GradScaler("cuda"), data)


if __name__ == "__main__":
    main()
