"""The average goes into what is trained for a checkpoint: in a function that saves, in the loop, in a callback."""

import torch
import torch.nn.functional as F
from diffusers import EMAModel


def save_checkpoint(accelerator, model, average, step):
    if not accelerator.is_main_process:
        return
    raw = accelerator.unwrap_model(model)
    average.copy_to(raw.parameters())
    raw.save_pretrained(f"out/{step}")


def with_accelerate(accelerator, net, loader, optimizer, steps):
    net, loader, optimizer = accelerator.prepare(net, loader, optimizer)
    average = EMAModel(net.parameters())
    for step, x in enumerate(loader):
        accelerator.backward(net(x).mean())
        optimizer.step()
        optimizer.zero_grad()
        average.step(net.parameters())
        if step % 500 == 0:
            save_checkpoint(accelerator, net, average, step)


def in_the_loop(net, ema_net, loader, optimizer, epochs):
    for epoch in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            F.cross_entropy(net(x), y).backward()
            optimizer.step()
            ema_net.update(net)
        if epoch % 5 == 4:
            net.load_state_dict(ema_net.state_dict())
            torch.save(net.state_dict(), f"epoch_{epoch}.pt")


class Trainer:
    def __init__(self, model, loader):
        self.model, self.loader = model, loader
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
        self.ema = EMAModel(model.parameters())

    def export(self, step):
        self.ema.copy_to(self.model.parameters())
        if step:
            torch.onnx.export(self.model, torch.zeros(1, 3), f"{step}.onnx")

    def fit(self):
        for step, x in enumerate(self.loader):
            self.optimizer.zero_grad()
            self.model(x).mean().backward()
            self.optimizer.step()
            self.ema.step(self.model.parameters())
            if step % 1000 == 0:
                self.export(step)
