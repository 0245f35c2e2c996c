import torch
import torch.nn as nn


def double_conv(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU(inplace=True),
                         nn.Conv2d(o, o, 3, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU(inplace=True))


class UNet(nn.Module):
    def __init__(self, base=8):
        super().__init__()
        self.inc, self.down = double_conv(1, base), double_conv(base, 2 * base)
        self.mid = double_conv(2 * base, 4 * base)
        self.up1, self.up2 = nn.ConvTranspose2d(4 * base, 2 * base, 2, 2), nn.ConvTranspose2d(2 * base, base, 2, 2)
        self.dec1, self.dec2 = double_conv(4 * base, 2 * base), double_conv(2 * base, base)
        self.outc = nn.Conv2d(base, 1, 1)
        self.pool = nn.MaxPool2d(2)

    def forward(self, x):
        a = self.inc(x)
        b = self.down(self.pool(a))
        c = self.mid(self.pool(b))
        d = self.dec1(torch.cat([self.up1(c), b], 1))
        return self.outc(self.dec2(torch.cat([self.up2(d), a], 1)))
