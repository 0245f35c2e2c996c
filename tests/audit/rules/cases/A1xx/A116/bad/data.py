import torch.distributed as dist


def tokenize_all(root):
    return [line.split() for line in open(root)]


def prepare(root):
    if dist.get_rank() == 0:
        tokenize_all(root)
    dist.barrier()
