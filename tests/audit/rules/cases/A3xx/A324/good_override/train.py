import torch
from torch import nn


class Detector(nn.Module):
    def __init__(self, backbone):
        super().__init__()
        self.backbone = backbone
        self.head = nn.Linear(256, 4)
        self._freeze_norms()

    def _freeze_norms(self):
        for module in self.backbone.modules():
            if isinstance(module, nn.BatchNorm2d):
                module.eval()

    def train(self, mode=True):
        super().train(mode)
        self._freeze_norms()
        return self

    def forward(self, images):
        return self.head(self.backbone(images))


def main(backbone, loader):
    net = Detector(backbone)
    optimizer = torch.optim.AdamW(net.head.parameters())
    for _ in range(10):
        net.train()
        for images, boxes in loader:
            nn.functional.l1_loss(net(images), boxes).backward()
            optimizer.step()
