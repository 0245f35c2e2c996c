import time

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stats import ActivationProbe


class Beats(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv1d(1, 16, 7, 2, 3), nn.ReLU(), nn.Conv1d(16, 16, 5, 2, 2), nn.ReLU())
        self.out = nn.Linear(16 * 32, 3)

    def forward(self, x):
        return self.out(self.features(x).flatten(1))


def synth(n):
    y = torch.arange(n) % 3
    t = torch.linspace(0, 6.28, 128)
    x = torch.sin(t * (y[:, None] + 2) + torch.rand(n, 1) * 6) + 0.2 * torch.randn(n, 128)
    return TensorDataset(x[:, None], y)


def evaluate(model, loader, epoch):
    model.eval()
    probe = ActivationProbe().attach(model)
    hits = n = 0
    with torch.inference_mode():
        for x, y in loader:
            hits += (model(x).argmax(1) == y).sum().item()
            n += len(y)
    model.train()
    return hits / n, probe.summary


def fit(epochs=10):
    torch.manual_seed(3)
    model = Beats()
    opt = torch.optim.Adam(model.parameters(), 1e-3)
    train = DataLoader(synth(768), 32, shuffle=True)
    val = DataLoader(synth(192), 32)
    for epoch in range(epochs):
        start = time.perf_counter()
        for step, (x, y) in enumerate(train):
            loss = nn.functional.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            if step % 8 == 0:
                acc, _ = evaluate(model, val, epoch)
        print(f"epoch {epoch} loss {loss.item():.4f} val {acc:.3f} {time.perf_counter() - start:.2f}s", flush=True)


if __name__ == "__main__":
    fit()
