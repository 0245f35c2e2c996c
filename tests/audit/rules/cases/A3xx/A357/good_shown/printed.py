import torch


class Meter:
    def __init__(self):
        self.total, self.count = 0.0, 0

    def update(self, value, count=1):
        self.total, self.count = self.total + value * count, self.count + count


@torch.no_grad()
def validate(model, loader, criterion):
    model.eval()
    total = 0.0
    for x, y in loader:
        loss = criterion(model(x), y)
        total += loss.item()
    print(total / len(loader))
    return loss
