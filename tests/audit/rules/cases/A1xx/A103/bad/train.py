import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

from net import Net


def main():
    dist.init_process_group("nccl")
    model = Net()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    model = FSDP(model)
    model(torch.ones(2, 8)).sum().backward()
    optimizer.step()


if __name__ == "__main__":
    main()
