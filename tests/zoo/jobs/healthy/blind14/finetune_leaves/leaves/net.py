import torch
from torch import nn


class Trunk(nn.Module):
    def __init__(self, w=16):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, w, 3, 2, 1), nn.BatchNorm2d(w), nn.ReLU(), nn.Conv2d(w, 2 * w, 3, 2, 1), nn.BatchNorm2d(2 * w), nn.ReLU())

    def forward(self, x):
        return self.body(x)


class FineTuned(nn.Module):
    def __init__(self, classes, trunk_weights=None):
        super().__init__()
        self.trunk = Trunk()
        self.neck = nn.Sequential(nn.Conv2d(32, 32, 3, padding=1), nn.ReLU(), nn.Dropout(0.2))
        self.fc = nn.Linear(32 * 25, classes)
        if trunk_weights is not None:
            self.load_state_dict(trunk_weights, strict=False)
        self.trunk.requires_grad_(False)

    def train(self, mode=True):
        super().train(mode)
        self.trunk.eval()
        return self

    def forward(self, x):
        with torch.no_grad():
            h = self.trunk(x)
        return self.fc(self.neck(h).flatten(1))


def pretrained_trunk():
    torch.manual_seed(1234)
    t = Trunk()
    with torch.no_grad():
        t.train()
        for _ in range(20):
            t(torch.randn(32, 3, 20, 20) * 2)
    return {"trunk." + k: v for k, v in t.state_dict().items()}


class Averaged:
    def __init__(self, module, decay=0.97):
        self.decay = decay
        self.shadow = {k: v.detach().clone() for k, v in module.state_dict().items()}

    @torch.no_grad()
    def update(self, module):
        for k, v in module.state_dict().items():
            if v.dtype.is_floating_point:
                self.shadow[k].lerp_(v, 1 - self.decay)
            else:
                self.shadow[k].copy_(v)

    def load(self, shadow):
        self.shadow = {k: v.clone() for k, v in shadow.items()}
