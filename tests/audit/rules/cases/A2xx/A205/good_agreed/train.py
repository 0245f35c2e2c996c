import math

import torch
import torch.distributed as dist


def reduce_dict(losses):
    values = torch.stack(list(losses.values()))
    dist.all_reduce(values)
    return dict(zip(losses, values))


def train(model, loader, weights):
    for batch in loader:
        losses = model(batch)
        reduced = reduce_dict(losses)
        scaled = {name: value * weights[name] for name, value in reduced.items() if name in weights}
        loss_reduced = sum(scaled.values())
        if not math.isfinite(loss_reduced.item()):
            break
        sum(losses.values()).backward()
