import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 8)

    def forward(self, x):
        return self.body(x)


def load_pretrained(net, path):
    net.load_state_dict(torch.load(path, weights_only=True), strict=False)
    return net
