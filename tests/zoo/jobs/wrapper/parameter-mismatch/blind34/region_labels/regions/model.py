from torch import nn


class Classifier(nn.Module):
    def __init__(self, features, hidden, num_classes, dropout):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.LayerNorm(features), nn.Linear(features, hidden), nn.GELU(), nn.Dropout(dropout),
            nn.Linear(hidden, hidden), nn.GELU())
        self.head = nn.Linear(hidden, num_classes)

    def forward(self, x):
        return self.head(self.backbone(x))
