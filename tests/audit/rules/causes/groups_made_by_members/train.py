"""Each rank makes its own group only: new_group is to be called by all, in one order."""
import os

import torch
import torch.distributed as dist

TEACHERS, STUDENTS = [0, 1], [2, 3]


def make_group(rank):
    members = TEACHERS if rank in TEACHERS else STUDENTS
    return dist.new_group(members)  # cause


def main():
    dist.init_process_group("gloo")
    rank = int(os.environ["RANK"])
    group = make_group(rank)  # cause
    x = torch.ones(1)
    dist.all_reduce(x, group=group)
    dist.destroy_process_group()


main()
