import torch


def clip(parameters, limit):
    if isinstance(parameters, torch.Tensor):
        parameters = [parameters]
    total = torch.stack([p.grad.norm() for p in parameters]).norm()
    for p in parameters:
        p.grad.mul_(min(1.0, limit / total))
    return total


def train(model, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in batches:
        optimizer.zero_grad()
        model(batch).mean().backward()
        clip(model.parameters(), 1.0)
        optimizer.step()
