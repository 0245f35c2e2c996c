import torch
from diffusers import EMAModel


def log_validation(model, ema, loader):
    ema.store(model.parameters())
    ema.copy_to(model.parameters())
    return sum(model(x).mean().item() for x in loader)


def main(model, loader, optimizer, epochs):
    ema = EMAModel(model.parameters())
    for epoch in range(epochs):
        for x in loader:
            model(x).mean().backward()
            optimizer.step()
            optimizer.zero_grad()
            ema.step(model.parameters())
        print(log_validation(model, ema, loader))
