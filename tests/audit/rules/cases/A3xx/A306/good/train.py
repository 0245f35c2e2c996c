import collections

import torch


def train(model, loader, criterion, optimizer):
    losses = []
    total = 0.0
    recent = collections.deque(maxlen=10)
    for x, y in loader:
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        losses.append(loss.detach())
        recent.append(loss)
        total += float(loss)
        total += loss.item() * len(x)
    return total


def accumulate(model, batches):
    total = 0
    for x in batches:
        total += model(x).mean()
    total.backward()


def per_step(model, loader):
    for x in loader:
        loss = 0
        for head in model.heads:
            loss += head(x)
        loss.backward()


def several(model, loader, heads):
    for x in loader:
        losses = []
        total = 0
        for head in heads:
            part = head(x)
            losses.append(part)
        loss = sum(losses)
        total += loss
        loss.backward()


def evaluate(model, loader):
    total = 0
    with torch.no_grad():
        for x in loader:
            loss = model(x)
            total += loss
    return total


def numbers(model, loader):
    total = 0
    for x in loader:
        loss = model(x)
        loss.backward()
        loss = loss.item()
        total += loss


def terms(model, loader, weights):
    total = 0
    for x in loader:
        loss = model(x)
        total += loss
        total.backward(retain_graph=True)


def shown(model, loader):
    losses = []
    for x in loader:
        loss = model(x)
        loss.backward()
        loss = loss.detach().cpu()
        losses.append(loss)
    return losses
