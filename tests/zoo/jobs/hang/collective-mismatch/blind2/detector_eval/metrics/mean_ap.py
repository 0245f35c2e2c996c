import torch

from .base import Metric


def box_iou(a, b):
    lt = torch.max(a[:, None, :2], b[None, :, :2])
    rb = torch.min(a[:, None, 2:4], b[None, :, 2:4])
    inter = (rb - lt).clamp(min=0).prod(-1)
    area = lambda x: (x[:, 2:4] - x[:, :2]).prod(-1)
    return inter / (area(a)[:, None] + area(b)[None] - inter + 1e-6)


class MeanRecall(Metric):
    """Recall at one IoU threshold; every image is one element of the list states."""

    def __init__(self, iou_threshold=0.3, **kwargs):
        super().__init__(**kwargs)
        self.iou_threshold = iou_threshold
        self.add_state("detections", default=[])
        self.add_state("groundtruths", default=[])
        self.add_state("images", default=torch.zeros(1), dist_reduce_fx="sum")

    def update(self, preds, targets):
        for pred, target in zip(preds, targets):
            if target.numel() == 0:
                continue
            self.detections.append(pred)
            self.groundtruths.append(target)
        self.images += len(preds)
        self._update_count += 1

    def _compute(self):
        found = total = 0
        for det, gt in zip(self.detections, self.groundtruths):
            if len(det):
                found += int((box_iou(gt, det).max(dim=1).values > self.iou_threshold).sum())
            total += len(gt)
        return {"recall": found / max(total, 1), "images": int(self.images)}
