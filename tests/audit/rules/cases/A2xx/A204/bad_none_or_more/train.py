"""What a loss gives beside itself is there on every rank, or on none."""
import torch
import torch.distributed as dist


def reduced(values):
    for value in values:
        dist.all_reduce(value)
    return values


def step(model, loss_of, inputs, labels):
    loss = loss_of(model(inputs), labels)
    loss_extra = None
    if isinstance(loss, (list, tuple)):
        loss, loss_extra = loss
    loss.backward()
    if loss_extra:
        loss_extra = reduced(loss_extra)
    return loss_extra
