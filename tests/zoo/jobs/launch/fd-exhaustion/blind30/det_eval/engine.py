import torch
import torch.nn as nn
import torch.nn.functional as F

from boxes import iou


class Detector(nn.Module):
    def __init__(self, width=16, grid=6):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, width, 3, 2, 1), nn.ReLU(),
            nn.Conv2d(width, 2 * width, 3, 2, 1), nn.ReLU(),
            nn.Flatten(), nn.Linear(2 * width * grid * grid, 64), nn.ReLU(), nn.Linear(64, 4),
        )

    def forward(self, x):
        c, s = self.body(x).sigmoid().chunk(2, 1)
        return torch.cat([c - s / 2, c + s / 2], 1)


def train_one_epoch(model, loader, optimizer, epoch, rank):
    model.train()
    for step, (images, targets) in enumerate(loader):
        pred = model(images)
        loss = F.l1_loss(pred, targets["box"]) + (1 - iou(pred, targets["box"])).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if rank == 0 and step % 4 == 0:
            print(f"Epoch: [{epoch}] [{step}/{len(loader)}] loss: {loss.item():.4f}", flush=True)


class Evaluator:
    def __init__(self, thresholds):
        self.thresholds = thresholds
        self.predictions, self.ground_truth = [], []

    def update(self, outputs, targets):
        self.predictions.append(outputs)
        self.ground_truth.append(targets)

    def summarize(self):
        pred = torch.cat(self.predictions)
        boxes = torch.cat([t["box"] for t in self.ground_truth])
        overlap = iou(pred, boxes)
        return {f"AP{int(100 * t)}": (overlap > t).float().mean().item() for t in self.thresholds}


@torch.no_grad()
def evaluate(model, loader, thresholds):
    model.eval()
    evaluator = Evaluator(thresholds)
    for images, targets in loader:
        evaluator.update(model(images), targets)
    return evaluator.summarize()
