import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn


class TinyDetector(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.stem = nn.Sequential(nn.Linear(12, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.score = nn.Linear(width, 2)
        self.delta = nn.Linear(width, 4)

    def forward(self, image):
        feature = self.stem(image)
        return self.score(feature), self.delta(feature)


class DetectionLoss:
    def __init__(self, group):
        self.group = group

    def reduce_mean(self, value):
        value = value.detach().clone()
        dist.all_reduce(value, group=self.group)
        return value / dist.get_world_size(self.group)

    def __call__(self, scores, deltas, label, box):
        losses = {"cls": F.cross_entropy(scores, label)}
        pos_inds = torch.nonzero(label > 0).squeeze(1)
        if len(pos_inds) > 0:
            weight = scores[pos_inds].softmax(-1)[:, 1].detach()
            norm = self.reduce_mean(weight.sum()).clamp(min=1e-3)
            losses["box"] = (F.l1_loss(deltas[pos_inds], box[pos_inds], reduction="none").sum(-1) * weight).sum() / norm
        else:
            losses["box"] = deltas.sum() * 0
        return losses
