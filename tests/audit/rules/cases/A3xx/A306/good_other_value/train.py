import torch


def train(model, criterion, optimizer, loader, meter):
    total = 0.0
    for x, y in loader:
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        meter.update([loss.item()])
        (loss, count) = meter.averages()
        total += loss
    return total, torch.tensor(count)
