import torch
from diffusers import EMAModel

from ema import EMA


def main(model, other, loader, optimizer, epochs):
    """What is put in when the training is over is meant to stay."""
    ema, shadow = EMAModel(model.parameters()), EMA(other)
    for epoch in range(epochs):
        for x in loader:
            model(x).mean().backward()
            optimizer.step()
            optimizer.zero_grad()
            ema.step(model.parameters())
    ema.store(model.parameters())
    ema.copy_to(model.parameters())
    shadow.apply_shadow(other)
    torch.save(model.state_dict(), "model.pt")
