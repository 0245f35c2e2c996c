import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main():
    if int(os.environ["RANK"]) == 0:
        os.makedirs("runs/first", exist_ok=True)
    dist.init_process_group("nccl")
    torch.save({}, f"runs/first/{dist.get_rank()}.pt")
    if dist.get_rank() == 0:
        os.makedirs("runs/second", exist_ok=True)
    model = DDP(torch.nn.Linear(4, 1).cuda())
    torch.save(model.state_dict(), os.path.join("runs/second", f"{dist.get_rank()}.pt"))


if __name__ == "__main__":
    main()
