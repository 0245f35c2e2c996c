import torch


def total_norm(parameters):
    return torch.stack([p.grad.norm() for p in parameters]).norm()


def kept(parameters):
    return parameters


def lazily(parameters):
    for p in parameters:
        yield p.grad


def first_only(parameters, known):
    if known is None:
        known = total_norm(parameters)
    return known


def other(parameters):
    parameters = [torch.zeros(3)]
    return sum(p.sum() for p in parameters)


def clip(parameters, limit):
    parameters = list(parameters)
    norm = total_norm(parameters)
    for p in parameters:
        p.grad.mul_(min(1.0, limit / norm))
    return norm


def scale(parameters, factor, known):
    first_only(parameters, known)
    for p in parameters:
        p.grad.mul_(factor)


def held(parameters):
    kept(parameters)
    lazily(parameters)
    other(parameters)
    for p in parameters:
        p.grad.zero_()


def either(parameters, loud):
    if loud:
        print(total_norm(parameters))
    else:
        for p in parameters:
            p.grad.zero_()


def train(model, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in batches:
        optimizer.zero_grad()
        model(batch).mean().backward()
        clip(model.parameters(), 1.0)
        scale(model.parameters(), 0.5, 1.0)
        held(model.parameters())
        either(model.parameters(), True)
        scale(list(model.parameters()), 0.5, None)
        optimizer.step()
