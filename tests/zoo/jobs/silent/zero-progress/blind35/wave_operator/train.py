import argparse
import json
import time

import torch
from torch.utils.data import DataLoader, TensorDataset

from burgers import dataset
from operator1d import FNO1d


def relative_l2(pred, target):
    diff = (pred - target).flatten(1).norm(dim=1)
    return (diff / target.flatten(1).norm(dim=1)).mean()


class SurrogateTrainer:
    def __init__(self, model, args):
        self.model, self.args = model, args
        self.optimizer = torch.optim.Adam(model.parameters(), lr=args.lr, weight_decay=1e-5)
        self.scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, args.epochs)
        self.history = []

    def train_epoch(self, loader):
        self.model.train()
        total = 0.0
        for u0, u1 in loader:
            self.optimizer.zero_grad()
            loss = relative_l2(self.model(u0), u1)
            loss.backward()
            self.optimizer.step()
            total += loss.item()
        self.scheduler.step()
        return total / len(loader)

    @torch.no_grad()
    def test(self, loader):
        self.model.eval()
        return sum(relative_l2(self.model(a), b).item() for a, b in loader) / len(loader)

    def fit(self, train, test):
        for epoch in range(self.args.epochs):
            begin = time.time()
            row = {"epoch": epoch, "train": self.train_epoch(train), "test": self.test(test)}
            self.history.append(row)
            print(f"epoch {epoch:2d} train {row['train']:.4f} test {row['test']:.4f} "
                  f"({time.time() - begin:.1f} s)", flush=True)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--train", type=int, default=320)
    p.add_argument("--epochs", type=int, default=12)
    p.add_argument("--batch-size", type=int, default=20)
    p.add_argument("--lr", type=float, default=3e-3)
    args = p.parse_args()
    torch.manual_seed(0)
    train = DataLoader(TensorDataset(*dataset(args.train, seed=1)), args.batch_size, shuffle=True)
    test = DataLoader(TensorDataset(*dataset(64, seed=2)), 64)
    trainer = SurrogateTrainer(FNO1d(), args)
    trainer.fit(train, test)
    torch.save(trainer.model.state_dict(), "fno.pt")
    with open("history.json", "w") as f:
        json.dump(trainer.history, f, indent=1)


if __name__ == "__main__":
    main()
