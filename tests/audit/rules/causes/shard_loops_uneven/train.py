"""Each rank takes every n-th file: where they do not come out even, one has a round more."""
import glob
import os

import torch
import torch.distributed as dist


def my_files(pattern):
    files = sorted(glob.glob(pattern))
    return files[int(os.environ["RANK"]) :: int(os.environ["WORLD_SIZE"])]


def main():
    dist.init_process_group("gloo")
    total = torch.zeros(1)
    for path in my_files("data/*.pt"):  # cause
        part = torch.load(path, weights_only=True, map_location="cpu").sum().reshape(1)
        dist.all_reduce(part)
        total += part
    print(total)
    dist.destroy_process_group()


main()
