import torch
from torch import nn


class Segmenter(nn.Module):
    def __init__(self, backbone):
        super().__init__()
        self.backbone = backbone
        self.criterion = nn.BCELoss()

    @torch.autocast(device_type="cuda", enabled=False)
    def forward(self, image, mask):
        scores = self.backbone(image).sigmoid()
        return self.criterion(scores, mask)
