"""The validation takes the average out again, and the samples that are drawn between do not."""

import torch

from ema import EMA


@torch.no_grad()
def validate(net, ema, loader):
    ema.apply_shadow(net)
    total = sum(net(x).mean().item() for x in loader)
    ema.restore(net)
    return total


@torch.no_grad()
def draw_samples(net, ema, noise):
    ema.apply_shadow(net)
    return net(noise)


def main(net, loader, val_loader, noise, epochs):
    ema = EMA(net)
    optimizer = torch.optim.Adam(net.parameters())
    for epoch in range(epochs):
        for x in loader:
            optimizer.zero_grad()
            net(x).mean().backward()
            optimizer.step()
            ema.update(net)
        print(validate(net, ema, val_loader))
        if epoch % 5 == 0:
            torch.save(draw_samples(net, ema, noise), "samples.pt")
