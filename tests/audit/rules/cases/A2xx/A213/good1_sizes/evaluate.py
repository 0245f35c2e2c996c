import torch
import torch.distributed as dist



def collect(scores):
    found = scores[scores > 0.5]
    sizes = [torch.zeros(1) for _ in range(dist.get_world_size())]
    size = torch.tensor([float(len(found))])
    dist.all_gather(sizes, size)
    padded = torch.zeros(int(max(sizes)))
    padded[: len(found)] = found
    everyone = [torch.empty_like(padded) for _ in range(dist.get_world_size())]
    dist.all_gather(everyone, padded)


def objects(scores):
    found = scores[scores > 0.5]
    everyone = [None] * dist.get_world_size()
    dist.all_gather_object(everyone, found)


def statistics(scores):
    mean = scores[scores > 0.5].mean()
    everyone = [torch.empty_like(mean) for _ in range(dist.get_world_size())]
    dist.all_gather(everyone, mean)


def rows(x, ids):
    part = x[ids]
    everyone = [torch.empty_like(part) for _ in range(dist.get_world_size())]
    dist.all_gather(everyone, part)
