import torch
from torch import nn


class LowRank(nn.Module):
    def __init__(self, base: nn.Linear, rank=8, scale=2.0):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.down = nn.Linear(base.in_features, rank, bias=False)
        self.up = nn.Linear(rank, base.out_features, bias=False)
        nn.init.zeros_(self.up.weight)
        self.scale = scale

    def forward(self, x):
        return self.base(x) + self.scale * self.up(self.down(x))


def adapt(net, rank=8):
    for p in net.parameters():
        p.requires_grad_(False)
    for parent in list(net.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, nn.Linear) and not isinstance(parent, LowRank):
                setattr(parent, name, LowRank(child, rank))
    return net


def adapter_state(net):
    return {k: v for k, v in net.state_dict().items() if ".down." in k or ".up." in k}


def load_adapter(net, path):
    state = torch.load(path, map_location="cpu")
    missing, unexpected = net.load_state_dict(state, strict=False)
    lost = [k for k in missing if ".down." in k or ".up." in k]
    if lost or unexpected:
        raise KeyError(f"{path}: missing {lost}, unexpected {unexpected}")
