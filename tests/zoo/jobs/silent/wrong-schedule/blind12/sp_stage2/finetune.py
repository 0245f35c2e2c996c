"""Two-stage training: pretrain on sketch data, then adapt to the target domain."""
import math
import os
import tempfile
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Stage:
    name: str
    lr: float
    epochs: int
    shift: float
    resume: str = ""


def dataset(shift, n=1600):
    g = torch.Generator().manual_seed(int(shift * 10) + 1)
    x = torch.randn(n, 12, generator=g)
    direction = torch.linspace(-1, 1, 12).roll(int(shift * 3))
    y = ((x @ direction) * (1 + shift) > 0).long() + 2 * (x[:, 0] * x[:, 1] > 0).long()
    return x, y


def build():
    return nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 4))


def cosine(opt, total):
    return torch.optim.lr_scheduler.LambdaLR(opt, lambda s: 0.5 * (1 + math.cos(math.pi * min(s, total) / total)))


def run(stage, out):
    model = build()
    x, y = dataset(stage.shift)
    steps = stage.epochs * (len(x) // 40)
    opt = torch.optim.SGD(model.parameters(), lr=stage.lr, momentum=0.9)
    if stage.resume:
        ckpt = torch.load(stage.resume, weights_only=True)
        model.load_state_dict(ckpt["model"])
        opt.load_state_dict(ckpt["optim"])
    else:
        sched = cosine(opt, steps)
    for epoch in range(stage.epochs):
        order = torch.randperm(len(x))
        total = 0.0
        for i in range(0, len(x), 40):
            rows = order[i:i + 40]
            loss = F.cross_entropy(model(x[rows]), y[rows])
            opt.zero_grad()
            loss.backward()
            opt.step()
            if not stage.resume:
                sched.step()
            total += loss.item()
        acc = (model(x).argmax(1) == y).float().mean().item()
        print(f"[{stage.name}] epoch {epoch} loss {total / (len(x) // 40):.4f} acc {acc:.3f}", flush=True)
    torch.save({"model": model.state_dict(), "optim": opt.state_dict()}, out)


def main():
    torch.manual_seed(7)
    work = tempfile.mkdtemp()
    first = os.path.join(work, "pretrain.pt")
    run(Stage("pretrain", lr=0.1, epochs=5, shift=0.0), first)
    run(Stage("adapt", lr=0.02, epochs=6, shift=1.0, resume=first), os.path.join(work, "adapt.pt"))


if __name__ == "__main__":
    main()
