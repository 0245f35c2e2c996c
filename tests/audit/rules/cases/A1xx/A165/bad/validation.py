import torch


def validate(model, loader):
    total = 0.0
    with torch.no_grad():
        for batch in loader:
            loss = model(batch).mean()
            total += loss.item()
    return total / len(loader)
