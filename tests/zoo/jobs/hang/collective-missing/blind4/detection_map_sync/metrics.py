"""A small mean average precision, one class."""
import torch
from torchmetrics import Metric


def iou(a, b):
    low = torch.maximum(a[:, None, :2], b[None, :, :2])
    high = torch.minimum(a[:, None, 2:], b[None, :, 2:])
    inter = (high - low).clamp(min=0).prod(-1)
    area = lambda x: (x[:, 2:] - x[:, :2]).clamp(min=0).prod(-1)
    return inter / (area(a)[:, None] + area(b)[None] - inter + 1e-6)


class BoxPrecision(Metric):
    full_state_update = False

    def __init__(self, threshold=0.5, **kwargs):
        super().__init__(**kwargs)
        self.threshold = threshold
        self.add_state("matches", default=[], dist_reduce_fx=None)

    def update(self, preds, target):
        for prediction, truth in zip(preds, target):
            best = iou(prediction["boxes"], truth["boxes"]).max(dim=1).values
            right = (best > self.threshold).float()
            self.matches.append(torch.stack([prediction["scores"], right], dim=1))

    def compute(self):
        table = torch.cat([match.reshape(-1, 2) for match in self.matches])
        hits = table[table[:, 0].argsort(descending=True), 1]
        precision = hits.cumsum(0) / torch.arange(1, len(hits) + 1)
        return (precision * hits).sum() / hits.sum().clamp(min=1)
