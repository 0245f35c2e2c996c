import torch
from torch import nn


class DEIMCriterion(nn.Module):

    def __init__(self, weight_dict):
        super().__init__()
        self.weight_dict = weight_dict

    def forward(self, outputs, targets):
        boxes = outputs["pred_boxes"]
        losses = {"loss_bbox": boxes.sum() * 0, "loss_giou": boxes.sum() * 0}
        matched = [(p, t) for p, t in zip(boxes, targets) if len(t)]
        if matched:
            d = torch.stack([torch.cdist(p, t, p=1).min(0).values.mean() for p, t in matched])
            losses["loss_bbox"] = d.mean()
            losses["loss_giou"] = (1 - torch.exp(-d)).mean()
        if "dn_outputs" in outputs:
            error = (outputs["dn_outputs"] - outputs["dn_targets"]).abs()
            losses["loss_bbox_dn"] = error.mean()
            losses["loss_giou_dn"] = error.pow(2).mean()
        return {k: v * self.weight_dict.get(k, 1.0) for k, v in losses.items()}
