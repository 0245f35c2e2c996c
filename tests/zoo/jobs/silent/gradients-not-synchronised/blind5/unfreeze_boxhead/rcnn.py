import torch
from torch import nn


class Backbone(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.stem = nn.Conv2d(1, dim, 3, stride=2, padding=1)
        self.res = nn.Conv2d(dim, dim, 3, padding=1)

    def forward(self, x):
        x = torch.relu(self.stem(x))
        return torch.relu(x + self.res(x)).mean((2, 3))


class ROIHeads(nn.Module):
    def __init__(self, dim, num_classes):
        super().__init__()
        self.box_head = nn.Sequential(nn.Linear(dim, 48), nn.ReLU(), nn.Linear(48, dim), nn.ReLU())
        self.cls_score = nn.Linear(dim, num_classes)
        self.bbox_pred = nn.Linear(dim, 4)

    def forward(self, feats):
        x = self.box_head(feats)
        return self.cls_score(x), self.bbox_pred(x)


class GeneralizedRCNN(nn.Module):
    def __init__(self, dim=24, num_classes=3, freeze_box_head=False):
        super().__init__()
        self.backbone = Backbone(dim)
        self.roi_heads = ROIHeads(dim, num_classes)
        if freeze_box_head:
            for p in self.roi_heads.box_head.parameters():
                p.requires_grad = False

    def unfreeze_box_head(self):
        for p in self.roi_heads.box_head.parameters():
            p.requires_grad = True

    def forward(self, images, classes, boxes):
        scores, deltas = self.roi_heads(self.backbone(images))
        return {"loss_cls": nn.functional.cross_entropy(scores, classes),
                "loss_box_reg": nn.functional.smooth_l1_loss(deltas, boxes)}
