import torch
import torch.distributed as dist



def couple(edge, row, column):
    order = [row, column] if dist.get_rank() % 2 == 0 else [column, row]
    for group in order:
        dist.all_reduce(edge, group=group)


def share(jobs, recent):
    first = "low" if dist.get_rank() == 0 and recent else "high"
    for name in sorted(jobs, key=lambda name: name != first):
        dist.all_reduce(jobs[name])
