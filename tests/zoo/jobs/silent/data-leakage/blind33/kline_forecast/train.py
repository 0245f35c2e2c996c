import argparse
import copy

import torch
from torch import nn
from torch.utils.data import DataLoader

from dataset import KlineDataset, load_klines


class Forecaster(nn.Module):
    def __init__(self, features=5, hidden=32, horizon=8):
        super().__init__()
        self.rnn = nn.GRU(features, hidden, batch_first=True)
        self.head = nn.Linear(hidden, horizon)

    def forward(self, past):
        out, _ = self.rnn(past)
        return past[:, -1:, 3] + self.head(out[:, -1])


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    se = naive = n = 0.0
    for past, future in loader:
        se += (model(past) - future).square().sum().item()
        naive += (past[:, -1:, 3] - future).square().sum().item()
        n += future.numel()
    return se / n, 1 - se / naive


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--lookback", type=int, default=24)
    p.add_argument("--horizon", type=int, default=8)
    p.add_argument("--epochs", type=int, default=6)
    p.add_argument("--batch-size", type=int, default=64)
    p.add_argument("--lr", type=float, default=3e-3)
    args = p.parse_args()
    torch.manual_seed(0)
    klines = load_klines()
    a, b = int(0.7 * len(klines)), int(0.85 * len(klines))
    splits = [KlineDataset(part, args.lookback, args.horizon) for part in (klines[:a], klines[a:b], klines[b:])]
    train_loader = DataLoader(splits[0], args.batch_size, shuffle=True, drop_last=True)
    val_loader, test_loader = (DataLoader(s, 256) for s in splits[1:])
    model = Forecaster(horizon=args.horizon)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, args.lr, total_steps=args.epochs * len(train_loader))
    best, best_state = float("inf"), None
    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for past, future in train_loader:
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(past), future)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            total += loss.item()
        val, skill = evaluate(model, val_loader)
        print(f"epoch {epoch} train {total / len(train_loader):.4f} val {val:.4f} skill {skill:.3f}", flush=True)
        if val < best:
            best, best_state = val, copy.deepcopy(model.state_dict())
    model.load_state_dict(best_state)
    mse, skill = evaluate(model, test_loader)
    print(f"test mse {mse:.4f}, skill over the last close {skill:.3f}")
    torch.save(best_state, "forecaster.pt")


if __name__ == "__main__":
    main()
