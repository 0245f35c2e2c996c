import argparse

import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader

from callbacks import CsvLogger, ModelCheckpoint
from data import CARDINALITIES, customers


class ChurnNet(nn.Module):
    def __init__(self, hidden=192):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(c, 6) for c in CARDINALITIES)
        self.net = nn.Sequential(
            nn.Linear(6 * len(CARDINALITIES) + 10, hidden), nn.ReLU(),
            nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def forward(self, cats, nums):
        e = [t(cats[:, i]) for i, t in enumerate(self.tables)]
        return self.net(torch.cat([*e, nums], 1)).squeeze(1)


class Trainer:
    def __init__(self, model, optimizer, callbacks):
        self.model, self.optimizer, self.callbacks = model, optimizer, callbacks

    def train_epoch(self, loader):
        self.model.train()
        total = 0.0
        for cats, nums, y in loader:
            self.optimizer.zero_grad()
            loss = F.binary_cross_entropy_with_logits(self.model(cats, nums), y)
            loss.backward()
            self.optimizer.step()
            total += loss.item()
        return total / len(loader)

    @torch.no_grad()
    def evaluate(self, loader):
        self.model.eval()
        loss = hits = n = 0
        for cats, nums, y in loader:
            logits = self.model(cats, nums)
            loss += F.binary_cross_entropy_with_logits(logits, y, reduction="sum").item()
            hits += ((logits > 0) == (y > 0.5)).sum().item()
            n += len(y)
        return loss / n, hits / n

    def fit(self, train_loader, val_loader, epochs):
        for epoch in range(epochs):
            train_loss = self.train_epoch(train_loader)
            val_loss, val_acc = self.evaluate(val_loader)
            metrics = {"epoch": epoch, "train_loss": train_loss, "val_loss": val_loss, "val_acc": val_acc}
            print(f"epoch {epoch:2d} train {train_loss:.4f} val {val_loss:.4f} acc {val_acc:.3f}", flush=True)
            for callback in self.callbacks:
                callback.on_epoch_end(self, metrics)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=24)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--seed", type=int, default=0)
    args = p.parse_args()
    torch.manual_seed(args.seed)
    train_loader = DataLoader(customers(1500, 1), 64, shuffle=True)
    val_loader, test_loader = DataLoader(customers(600, 2), 256), DataLoader(customers(2000, 3), 256)
    model = ChurnNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    trainer = Trainer(model, optimizer, [ModelCheckpoint("best.pt"), CsvLogger("history.csv")])
    trainer.fit(train_loader, val_loader, args.epochs)
    model.load_state_dict(torch.load("best.pt")["model"])
    loss, acc = trainer.evaluate(test_loader)
    print(f"test loss {loss:.4f} acc {acc:.3f}")


if __name__ == "__main__":
    main()
