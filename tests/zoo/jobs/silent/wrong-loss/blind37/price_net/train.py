import argparse

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)


def flats(n, seed):
    """area, rooms, floor, age, distance ... -> price (thousands)"""
    g = torch.Generator().manual_seed(seed)
    x = torch.rand(n, 10, generator=g)
    price = 120 + 300 * x[:, 0] + 60 * torch.sin(5 * x[:, 1]) - 90 * x[:, 2] * x[:, 3] + 40 * (x[:, 4] > 0.7)
    return x, (price + 10 * torch.randn(n, generator=g)).unsqueeze(1)


class Standardizer:
    def fit(self, t):
        self.mean, self.std = t.mean(0), t.std(0)
        return self

    def transform(self, t):
        return (t - self.mean) / self.std

    def inverse(self, t):
        return t * self.std + self.mean


class PriceNet(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        layers = []
        for a, b in zip(sizes[:-1], sizes[1:]):
            layers += [nn.Linear(a, b), nn.ReLU()]
        self.layers = nn.Sequential(*layers)

    def forward(self, x):
        return self.layers(x)


@torch.no_grad()
def report(model, x, y, sy):
    model.eval()
    error = (sy.inverse(model(x)) - y).abs()
    return error.mean().item(), error.median().item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--rows", type=int, default=4000)
    ap.add_argument("--hidden", type=int, nargs="+", default=[64, 64])
    ap.add_argument("--epochs", type=int, default=25)
    ap.add_argument("--lr", type=float, default=1e-3)
    args = ap.parse_args()
    torch.manual_seed(0)
    x, y = flats(args.rows, 0)
    xt, yt = flats(800, 1)
    sx, sy = Standardizer().fit(x), Standardizer().fit(y)
    loader = DataLoader(TensorDataset(sx.transform(x), sy.transform(y)), batch_size=64, shuffle=True)
    model = PriceNet([10, *args.hidden, 1])
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    loss_fn = nn.MSELoss()
    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for bx, by in loader:
            opt.zero_grad()
            loss = loss_fn(model(bx), by)
            loss.backward()
            opt.step()
            total += loss.item()
        mae, med = report(model, sx.transform(xt), yt, sy)
        print(f"[{epoch:02d}] train mse {total / len(loader):.4f} | test mae {mae:.1f}k, median {med:.1f}k", flush=True)


if __name__ == "__main__":
    main()
