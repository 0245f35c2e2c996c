from torch import nn


class SegNet(nn.Module):
    def __init__(self, classes, ch=24):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(3, ch, 3, 2, 1), nn.BatchNorm2d(ch), nn.ReLU(),
                                     nn.Conv2d(ch, ch, 3, 2, 1), nn.BatchNorm2d(ch), nn.ReLU())
        self.decoder = nn.Sequential(nn.Conv2d(ch, ch, 3, padding=1), nn.ReLU(), nn.Conv2d(ch, classes, 1))

    def freeze_encoder(self):
        for p in self.encoder.parameters():
            p.requires_grad_(False)
        return self

    def train(self, mode=True):
        super().train(mode)
        if not next(self.encoder.parameters()).requires_grad:
            self.encoder.eval()
        return self

    def forward(self, x):
        return self.decoder(self.encoder(x))
