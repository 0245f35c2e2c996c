import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

from net import Net


def main():
    dist.init_process_group("nccl")
    model = Net()
    optimizer = torch.optim.Adam(model.parameters())
    model = FSDP(model, use_orig_params=True)
    print(model, optimizer)


if __name__ == "__main__":
    main()
