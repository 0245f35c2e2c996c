from torch import nn


class PoseNet(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(18, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU())
        self.objectness = nn.Linear(width, 1)
        self.keypoints = nn.Linear(width, 6)

    def forward(self, frame):
        feature = self.backbone(frame)
        return self.objectness(feature).squeeze(-1), self.keypoints(feature)
