import torch.nn as nn


class Stage(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.conv = nn.Conv2d(i, o, 3, stride=2, padding=1, bias=False)
        self.bn = nn.BatchNorm2d(o)

    def forward(self, x):
        return self.bn(self.conv(x)).relu()


class Net(nn.Module):
    def __init__(self, classes, frozen=0):
        super().__init__()
        self.stages = nn.ModuleList([Stage(1, 8), Stage(8, 16), Stage(16, 32)])
        self.fc = nn.Linear(32, classes)
        self.frozen = frozen
        for stage in self.stages[:frozen]:
            stage.requires_grad_(False)

    def train(self, mode=True):
        super().train(mode)
        for stage in self.stages[:self.frozen]:
            stage.eval()
        return self

    def forward(self, x):
        for stage in self.stages:
            x = stage(x)
        return self.fc(x.mean((2, 3)))


def param_groups(model, lr, backbone_scale):
    backbone = [p for p in model.stages.parameters() if p.requires_grad]
    return [{"params": backbone, "lr": lr * backbone_scale}, {"params": model.fc.parameters(), "lr": lr}]
