import torch
import torch.distributed as dist


def validate(vse, loader):
    vse.val_start()
    hits = torch.zeros(2)
    for x, y in loader:
        hits += torch.tensor([(vse.scores(x).argmax(1) == y).sum().item(), len(y)], dtype=torch.float32)
    dist.all_reduce(hits)
    return (hits[0] / hits[1]).item()
