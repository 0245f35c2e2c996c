import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler


def evaluate(model, data, every):
    loader = DataLoader(data, sampler=DistributedSampler(data, shuffle=False))
    scores = []
    for step, (images, boxes) in enumerate(loader):
        if step % every:
            continue
        scores.append(model(images, boxes).item())
    if len(scores) > 0:
        total = torch.tensor(sum(scores))
        dist.all_reduce(total)
    kept = []
    for images, boxes in loader:
        if boxes.numel() == 0:
            continue
        kept.append(model(images, boxes).item())
    count = torch.tensor(len(kept))
    dist.all_reduce(count)
    if count.item() > 0:
        total = torch.tensor(sum(kept))
        dist.all_reduce(total)
