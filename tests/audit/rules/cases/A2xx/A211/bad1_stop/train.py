import torch
import torch.distributed as dist



def train(model, loader, best):
    for epoch in range(9):
        loss = run_epoch(model, loader)
        dist.reduce(loss, dst=0)
        mean = loss.item() / dist.get_world_size()
        if mean > best:
            break
        best = mean
