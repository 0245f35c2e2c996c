import os
from pathlib import Path

import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    os.makedirs("runs", exist_ok=True)
    Path("logs").mkdir(exist_ok=True)
    if rank == 0 and not os.path.exists("out"):
        os.makedirs("out")
    os.makedirs(f"rank{rank}")
    try:
        os.mkdir("cache")
    except FileExistsError:
        print("it is there")
    if rank != 0:
        return
    os.mkdir("last")


main()
