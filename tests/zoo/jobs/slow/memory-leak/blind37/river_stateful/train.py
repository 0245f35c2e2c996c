"""Stateful LSTM over one long gauge record, chunk by chunk."""
import argparse
import time

import torch
import torch.nn as nn

torch.set_num_threads(1)


def gauge(streams, steps):
    g = torch.Generator().manual_seed(0)
    t = torch.arange(steps)
    phase = torch.rand(streams, 1, generator=g) * 6.28
    level = torch.sin(t / 15 + phase) + 0.5 * torch.sin(t / 41 + 2 * phase)
    return (level + 0.1 * torch.randn(streams, steps, generator=g)).unsqueeze(-1)


class GaugeLSTM(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.lstm = nn.LSTM(1, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)
        self.state = None

    def reset(self):
        self.state = None

    def forward(self, x):
        y, self.state = self.lstm(x, self.state)
        return self.out(y)


class ManualSGD:
    """p <- p - lr * g, without state."""

    def __init__(self, model, lr):
        self.params, self.lr = list(model.parameters()), lr

    def zero(self):
        for p in self.params:
            p.grad = None

    def step(self):
        for p in self.params:
            p.data = p.data - self.lr * p.grad


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--chunk", type=int, default=10)
    ap.add_argument("--epochs", type=int, default=2)
    ap.add_argument("--steps", type=int, default=1800)
    args = ap.parse_args()
    torch.manual_seed(0)
    record = gauge(16, args.steps + 1)
    model = GaugeLSTM()
    opt = ManualSGD(model, lr=0.1)
    for epoch in range(args.epochs):
        model.reset()
        start, total, n = time.time(), 0.0, 0
        for i in range(0, args.steps, args.chunk):
            x, y = record[:, i:i + args.chunk], record[:, i + 1:i + 1 + args.chunk]
            loss = nn.functional.mse_loss(model(x), y)
            opt.zero()
            loss.backward(retain_graph=True)
            nn.utils.clip_grad_norm_(opt.params, 1.0)
            opt.step()
            total, n = total + loss.item(), n + 1
            if n % 20 == 0:
                print(f"epoch {epoch} chunk {n} mse {total / n:.4f} {time.time() - start:.1f}s", flush=True)


if __name__ == "__main__":
    main()
