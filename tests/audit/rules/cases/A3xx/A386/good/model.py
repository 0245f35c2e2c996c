from torch import nn


class SpeakerNet(nn.Module):
    def forward(self, x, y, idx):
        n, c, t, f = x.shape
        flat = x.view(n * c, t, f).view(n, c, t * f)
        x = x.permute(0, 2, 1, 3)
        x = x.reshape(n, t, c * f)
        same = y.view(n, t, c * f)
        b, k = idx.shape
        return flat, x.view(n, t, f * c), same, idx.view(k, b)


class Patches(nn.Module):
    def forward(self, maps):
        b, c, h, w = maps.size()
        tokens = maps.flatten(2).transpose(1, 2).reshape(b, h * w, c)
        maps = maps.reshape(b, 1, c, w * h)
        return tokens, maps.view(b, c, h, w)
