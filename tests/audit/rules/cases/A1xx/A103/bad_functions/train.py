import torch
import torch.distributed as dist
from torch.distributed.fsdp import fully_shard

from net import Net


def make_optimizer(model, lr):
    groups = [{"params": [p for p in model.parameters() if p.ndim > 1]}]
    return torch.optim.SGD(groups, lr=lr)


def shard(model):
    for block in model.children():
        fully_shard(block)
    fully_shard(model)


def main():
    dist.init_process_group("nccl")
    model = Net()
    optimizer = make_optimizer(model, 0.1)
    shard(model)
    model(torch.ones(2, 8)).sum().backward()
    optimizer.step()


if __name__ == "__main__":
    main()
