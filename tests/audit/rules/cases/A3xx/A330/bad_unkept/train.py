"""The average goes straight into what is trained: by a method of the trainer, and through an unwrapped model."""

import torch
from diffusers import EMAModel
from torch_ema import ExponentialMovingAverage


class Trainer:
    def __init__(self, model, loader):
        self.model, self.loader = model, loader
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
        self.ema = ExponentialMovingAverage(model.parameters(), decay=0.999)

    @torch.no_grad()
    def sample(self, noise):
        self.ema.copy_to(self.model.parameters())
        self.model.eval()
        images = self.model(noise)
        self.model.train()
        return images

    def fit(self, epochs, noise):
        for _ in range(epochs):
            for x in self.loader:
                self.optimizer.zero_grad()
                self.model(x).mean().backward()
                self.optimizer.step()
                self.ema.update()
            self.sample(noise)


def main(accelerator, net, loader, optimizer, pipeline, epochs):
    model, loader, optimizer = accelerator.prepare(net, loader, optimizer)
    ema_model = EMAModel(model.parameters())
    for epoch in range(epochs):
        for x in loader:
            accelerator.backward(model(x).mean())
            optimizer.step()
            ema_model.step(model.parameters())
        if epoch % 10 == 0 or epoch == epochs - 1:
            unet = accelerator.unwrap_model(model)
            ema_model.copy_to(unet.parameters())
            with torch.no_grad():
                pipeline(unet)
