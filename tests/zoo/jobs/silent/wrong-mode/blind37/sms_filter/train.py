import argparse

import torch
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
VOCAB, LENGTH = 400, 24


def messages(n, seed):
    g = torch.Generator().manual_seed(seed)
    ids = torch.randint(1, VOCAB, (n, LENGTH), generator=g)
    lengths = torch.randint(6, LENGTH + 1, (n,), generator=g)
    ids[torch.arange(LENGTH) >= lengths[:, None]] = 0
    spam = ((ids > 0) & (ids < 40)).sum(1) >= 2
    flip = torch.rand(n, generator=g) < 0.12
    return TensorDataset(ids, (spam ^ flip).float())


class Filter(nn.Module):
    def __init__(self, dim=48, hidden=128, p=0.5):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, dim, padding_idx=0)
        self.drop = nn.Dropout(p)
        self.mlp = nn.Sequential(nn.Linear(dim, hidden), nn.BatchNorm1d(hidden), nn.ReLU(), nn.Dropout(p),
                                 nn.Linear(hidden, 1))

    def forward(self, ids):
        e = self.drop(self.embed(ids))
        mean = e.sum(1) / (ids > 0).sum(1, keepdim=True)
        return self.mlp(mean).squeeze(1)


def evaluate(model, loader, criterion):
    model.eval()
    loss = hits = 0
    with torch.no_grad():
        for ids, spam in loader:
            out = model(ids)
            loss += criterion(out, spam).item() * len(spam)
            hits += ((out > 0) == (spam > 0.5)).sum().item()
    n = len(loader.dataset)
    return loss / n, hits / n


def train(args):
    train_loader = DataLoader(messages(1500, 0), batch_size=50, shuffle=True)
    dev_loader = DataLoader(messages(600, 1), batch_size=200)
    model = Filter()
    criterion = nn.BCEWithLogitsLoss()
    optimizer = optim.Adam(model.parameters(), lr=args.lr)
    best = float("inf")
    model.train()
    for epoch in range(args.epochs):
        running = 0.0
        for ids, spam in train_loader:
            optimizer.zero_grad()
            loss = criterion(model(ids), spam)
            loss.backward()
            optimizer.step()
            running += loss.item()
        dev_loss, dev_acc = evaluate(model, dev_loader, criterion)
        mark = ""
        if dev_loss < best:
            best, mark = dev_loss, " *"
            torch.save(model.state_dict(), args.out)
        print(f"epoch {epoch:2d} train {running / len(train_loader):.4f} dev {dev_loss:.4f} acc {dev_acc:.3f}{mark}",
              flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=25)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--out", default="filter.pt")
    torch.manual_seed(0)
    train(parser.parse_args())
