import torch
from torch import nn


def train_step(g, d, opt_g, opt_d, real, noise):
    fake = g(noise)
    loss_d = d(fake.detach()).mean() - d(real).mean()
    shown = d(real).mean().item()
    opt_d.zero_grad()
    loss_d.backward()
    opt_d.step()
    loss_g = -d(fake).mean()
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
    return shown


def generator_first(g, d, opt_g, opt_d, real, noise):
    fake = g(noise)
    loss_g = -d(fake).mean()
    loss_g.backward()
    opt_g.step()
    opt_d.zero_grad()
    loss_d = d(fake.detach()).mean() - d(real).mean()
    loss_d.backward()
    opt_d.step()


def both(g, d, opt_g, opt_d, real, noise):
    with torch.no_grad():
        target = d(real)
    fake = g(noise)
    loss_g = (fake - target).square().mean()
    loss_d = d(fake.detach()).mean()
    loss_d.backward()
    opt_d.step()
    loss_g.backward()
    opt_g.step()


def main():
    g, d = nn.Linear(4, 4), nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1))
    opt_g = torch.optim.Adam(g.parameters())
    opt_d = torch.optim.Adam(d.parameters())
    for _ in range(10):
        train_step(g, d, opt_g, opt_d, torch.randn(4, 4), torch.randn(4, 4))
        generator_first(g, d, opt_g, opt_d, torch.randn(4, 4), torch.randn(4, 4))
        both(g, d, opt_g, opt_d, torch.randn(4, 4), torch.randn(4, 4))
