import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler


def evaluate(model, data):
    loader = DataLoader(data, sampler=DistributedSampler(data, shuffle=False))
    scores = []
    for images, boxes in loader:
        if boxes.numel() == 0:
            continue
        scores.append(model(images, boxes).item())
    if len(scores) > 0:
        total = torch.tensor(sum(scores))
        dist.all_reduce(total)
        return total
    return None
