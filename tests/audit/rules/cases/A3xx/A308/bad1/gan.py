import torch
from torch import nn


def train_step(g, d, opt_g, opt_d, real, noise):
    fake = g(noise)
    loss_d = d(fake.detach()).mean() - d(real).mean()
    loss_g = -d(fake).mean()
    opt_d.zero_grad()
    loss_d.backward()
    opt_d.step()
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()


def main():
    g, d = nn.Linear(4, 4), nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1))
    opt_g = torch.optim.Adam(g.parameters())
    opt_d = torch.optim.Adam(d.parameters())
    for _ in range(10):
        train_step(g, d, opt_g, opt_d, torch.randn(4, 4), torch.randn(4, 4))


class Trainer:
    def __init__(self, net):
        self.net = net
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)

    def step(self, x, y):
        first = self.net(x).mean()
        second = self.net(y).mean()
        first.backward()
        self.optimizer.step()
        second.backward()
