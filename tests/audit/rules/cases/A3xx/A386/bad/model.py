import torch
from torch import nn


class SpeakerNet(nn.Module):
    def forward(self, x):
        n, c, t, f = x.shape
        x = x.view(n, t, c * f)
        return self.rnn(x)


class Patches(nn.Module):
    def forward(self, maps):
        b, c, h, w = maps.size()
        return self.blocks(maps.reshape(b, h * w, c))
