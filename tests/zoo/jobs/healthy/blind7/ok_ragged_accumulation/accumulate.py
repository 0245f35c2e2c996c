import contextlib

import torch
import torch.distributed as dist


def windows(loader, size):
    """Micro-batches in groups of size; the last group of an epoch may be shorter."""
    group = []
    for batch in loader:
        group.append(batch)
        if len(group) == size:
            yield group
            group = []
    if group:
        yield group


def tokens_in(group):
    n = torch.tensor(float(sum((labels != -100).sum() for _, labels in group)))
    dist.all_reduce(n)
    return n


def backward_window(model, group, loss_sum):
    """The gradient of the mean over all tokens of all ranks, whatever the micro-batches hold."""
    total, scale = tokens_in(group), dist.get_world_size()
    value = 0.0
    for i, (ids, labels) in enumerate(group):
        last = i == len(group) - 1
        with contextlib.nullcontext() if last else model.no_sync():
            loss = loss_sum(model(ids), labels) * scale / total
            loss.backward()
            value += loss.item()
    return value
