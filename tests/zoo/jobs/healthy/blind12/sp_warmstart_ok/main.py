import argparse
import pathlib
import tempfile

import torch
from torch.utils.data import DataLoader, TensorDataset

from net import SeriesNet, pretrain_autoencoder, restore


def make_series(n=2048, window=24, seed=5):
    g = torch.Generator().manual_seed(seed)
    phase = torch.rand(n, 1, generator=g) * 6.28
    freq = 0.2 + torch.rand(n, 1, generator=g)
    t = torch.arange(window).float()
    x = torch.sin(freq * t + phase) + 0.05 * torch.randn(n, window, generator=g)
    y = torch.sin(freq * (window + 2) + phase)
    return x, y


class Forecaster:
    def __init__(self, args, path):
        self.args = args
        self.net = restore(SeriesNet(), path)
        self.opt = torch.optim.AdamW(self.net.parameters(), lr=args.lr, weight_decay=1e-4)
        self.sched = torch.optim.lr_scheduler.StepLR(self.opt, 4, 0.5)

    def epoch(self, loader):
        self.net.train()
        total = 0.0
        for x, y in loader:
            self.opt.zero_grad(set_to_none=True)
            loss = torch.nn.functional.mse_loss(self.net(x), y)
            loss.backward()
            self.opt.step()
            total += loss.item()
        self.sched.step()
        return total / len(loader)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=8)
    ap.add_argument("--lr", type=float, default=3e-3)
    args = ap.parse_args()
    torch.manual_seed(0)
    x, y = make_series()
    folder = pathlib.Path(tempfile.mkdtemp())
    pretrain_autoencoder(x, folder / "ae.pt")
    loader = DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True)
    job = Forecaster(args, folder / "ae.pt")
    for epoch in range(args.epochs):
        print(f"epoch {epoch}: mse {job.epoch(loader):.4f}")


if __name__ == "__main__":
    main()
