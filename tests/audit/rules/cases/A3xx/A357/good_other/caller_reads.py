import torch


class Meter:
    def __init__(self):
        self.total, self.count = 0.0, 0

    def update(self, value, count=1):
        self.total, self.count = self.total + value * count, self.count + count


@torch.no_grad()
def validate(model, loader, criterion, kept):
    model.eval()
    count = len(loader)
    for x, y in loader:
        loss = criterion(model(x), y)
        kept.append(loss.item())
        count -= 1
    return loss
