import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from world import my_rank


def main():
    dist.init_process_group("nccl")
    torch.cuda.set_device(dist.get_rank())
    rank = int(os.environ["RANK"])
    device = torch.device(f"cuda:{rank}")
    model = torch.nn.Linear(2, 1).to(device)
    return DistributedDataParallel(model, device_ids=[my_rank()])


if __name__ == "__main__":
    main()
