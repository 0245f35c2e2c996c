import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel


def make_optimizer(parameters, lr):
    return torch.optim.AdamW(parameters, lr=lr)


def main():
    dist.init_process_group("nccl")
    net = torch.nn.Linear(4, 4)
    optimizer = make_optimizer(net.parameters(), lr=0.1)
    sharded = FullyShardedDataParallel(net)
    print(sharded, optimizer)


if __name__ == "__main__":
    main()
