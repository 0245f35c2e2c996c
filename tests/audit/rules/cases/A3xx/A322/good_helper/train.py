import torch


def clip(parameters, limit):
    parameters = list(parameters)
    total = torch.stack([p.grad.norm() for p in parameters]).norm()
    for p in parameters:
        p.grad.mul_(min(1.0, limit / total))
    return total


def scale(parameters, limit):
    total = torch.stack([p.grad.norm() for p in parameters]).norm()
    for p in parameters:
        p.grad.mul_(min(1.0, limit / total))
    return total


def count(parameters, trained):
    if trained:
        return sum(p.numel() for p in parameters if p.requires_grad)
    return sum(p.numel() for p in parameters)


def train(model, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    print(count(model.parameters(), True))
    for batch in batches:
        optimizer.zero_grad()
        model(batch).mean().backward()
        clip(model.parameters(), 1.0)
        scale(list(model.parameters()), 1.0)
        optimizer.step()
