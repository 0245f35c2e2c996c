from torch import nn
from torch.nn import functional as F


class TinyDetector(nn.Module):
    def __init__(self, size, kinds, width):
        super().__init__()
        self.trunk = nn.Sequential(nn.Conv2d(1, width, 3, stride=2, padding=1), nn.ReLU(),
                                   nn.Conv2d(width, width, 3, stride=2, padding=1), nn.ReLU(), nn.Flatten())
        features = width * (size // 4) ** 2
        self.box, self.kind = nn.Linear(features, 4), nn.Linear(features, kinds)

    def forward(self, image):
        h = self.trunk(image)
        return self.box(h).sigmoid(), self.kind(h)


def detection_loss(outputs, batch):
    boxes, kinds = outputs
    return F.smooth_l1_loss(boxes, batch["box"]) * 5 + F.cross_entropy(kinds, batch["kind"])
