from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Options:
    amp: bool = True
    most: float = 1.0


class Engine:
    def __init__(self, net, options: Options):
        self.net, self.options = net, options
        self.opt = torch.optim.SGD(net.parameters(), lr=0.1)
        self.scaler = torch.amp.GradScaler("cuda", enabled=options.amp)

    def bound(self):
        return nn.utils.clip_grad_norm_(self.net.parameters(), self.options.most)  # cause

    def step(self, x, y):
        loss = nn.functional.mse_loss(self.net(x), y)
        self.scaler.scale(loss).backward()
        self.bound()
        self.scaler.step(self.opt)
        self.scaler.update()
        self.opt.zero_grad()
