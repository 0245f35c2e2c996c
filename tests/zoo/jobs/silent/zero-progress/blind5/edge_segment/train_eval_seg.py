import torch
from torch import nn


def iou(pred, target, num_classes):
    scores = []
    for c in range(num_classes):
        p, t = pred == c, target == c
        if (p | t).any():
            scores.append((p & t).sum().item() / (p | t).sum().item())
    return sum(scores) / len(scores)


def train_seg(model, loader, optimizer, criterion, num_classes, use_amp=True):
    model.train()
    losses, ious = [], []
    for inputs, target in loader:
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=use_amp):
            outputs = model(inputs)
            loss = criterion(outputs, target)
        loss.backward()
        optimizer.zero_grad()
        optimizer.step()
        losses.append(loss.item())
        ious.append(iou(outputs.argmax(1), target, num_classes))
    return sum(ious) / len(ious), sum(losses) / len(losses)


@torch.no_grad()
def val_seg(model, loader, criterion, num_classes):
    model.eval()
    losses, ious = [], []
    for inputs, target in loader:
        outputs = model(inputs)
        losses.append(criterion(outputs, target).item())
        ious.append(iou(outputs.argmax(1), target, num_classes))
    return sum(ious) / len(ious), sum(losses) / len(losses)


class PolyLR:
    def __init__(self, base_lr, max_epochs, power=0.9):
        self.base_lr, self.max_epochs, self.power = base_lr, max_epochs, power

    def step(self, optimizer, epoch):
        lr = self.base_lr * (1 - epoch / self.max_epochs) ** self.power
        for group in optimizer.param_groups:
            group["lr"] = lr * group.get("lr_mult", 1.0)
        return lr


class EdgeSegNet(nn.Module):
    def __init__(self, num_classes=3):
        super().__init__()
        self.base = nn.Sequential(nn.Conv2d(1, 12, 3, padding=1), nn.PReLU(), nn.Conv2d(12, 12, 3, padding=1, groups=12))
        self.bottom = nn.Sequential(nn.MaxPool2d(2), nn.Conv2d(12, 24, 3, padding=1), nn.PReLU(),
                                    nn.Upsample(scale_factor=2))
        self.classifier = nn.Conv2d(36, num_classes, 1)

    def forward(self, x):
        x = self.base(x)
        return self.classifier(torch.cat([x, self.bottom(x)], 1))
