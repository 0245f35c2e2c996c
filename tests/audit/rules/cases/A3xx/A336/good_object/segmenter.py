import torch
from torch import nn


class Segmenter(nn.Module):
    def __init__(self, backbone):
        super().__init__()
        self.backbone = backbone
        self.criterion = nn.BCEWithLogitsLoss()

    @torch.autocast(device_type="cuda", dtype=torch.bfloat16)
    def forward(self, image, mask):
        scores = self.backbone(image)
        return self.criterion(scores, mask)
