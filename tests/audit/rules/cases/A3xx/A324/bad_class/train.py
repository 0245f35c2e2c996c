import torch
from torch import nn


class Detector(nn.Module):
    def __init__(self, backbone):
        super().__init__()
        self.backbone = backbone
        self.head = nn.Linear(256, 4)
        self._freeze_backbone()

    def _freeze_backbone(self):
        for parameter in self.backbone.parameters():
            parameter.requires_grad = False
        for module in self.backbone.modules():
            if isinstance(module, nn.BatchNorm2d):
                module.train(False)

    def forward(self, images):
        return self.head(self.backbone(images))


def epoch(net, loader, optimizer):
    net.train()
    for images, boxes in loader:
        nn.functional.l1_loss(net(images), boxes).backward()
        optimizer.step()


def main(backbone, loader):
    net = Detector(backbone)
    optimizer = torch.optim.AdamW(net.head.parameters())
    for _ in range(10):
        epoch(net, loader, optimizer)
