"""Two towers for retrieval, trained on pairs (user, item, clicked)."""
import argparse
import logging

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
logging.basicConfig(level=logging.INFO, format="%(message)s")


class ClickLog(Dataset):
    def __init__(self, users, items, n, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.taste = torch.randn(users, 6, generator=g)
        self.kind = torch.randn(items, 6, generator=g)
        self.user = torch.randint(users, (n,), generator=g)
        self.item = torch.randint(items, (n,), generator=g)
        affinity = (self.taste[self.user] * self.kind[self.item]).sum(1)
        self.clicked = (affinity > 1.5).float()

    def __len__(self):
        return len(self.user)

    def __getitem__(self, i):
        return self.user[i], self.item[i], self.clicked[i]


class Tower(nn.Module):
    def __init__(self, count, dim):
        super().__init__()
        self.table = nn.Embedding(count, 32)
        self.mlp = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, dim))

    def forward(self, ids):
        return self.mlp(self.table(ids))


class TwoTower(nn.Module):
    def __init__(self, users, items, dim=16):
        super().__init__()
        self.users, self.items = Tower(users, dim), Tower(items, dim)

    def forward(self, user, item):
        return self.users(user), self.items(item)


@torch.no_grad()
def recall_at(model, log, k=20):
    model.eval()
    u = nn.functional.normalize(model.users(torch.arange(len(log.taste))), dim=1)
    v = nn.functional.normalize(model.items(torch.arange(len(log.kind))), dim=1)
    liked = (log.taste @ log.kind.T) > 1.5
    top = (u @ v.T).topk(k, dim=1).indices
    return liked.gather(1, top).float().mean().item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--users", type=int, default=200)
    ap.add_argument("--items", type=int, default=300)
    ap.add_argument("--events", type=int, default=16000)
    ap.add_argument("--epochs", type=int, default=8)
    ap.add_argument("--margin", type=float, default=0.1)
    args = ap.parse_args()
    torch.manual_seed(0)
    clicks = ClickLog(args.users, args.items, args.events)
    loader = DataLoader(clicks, batch_size=128, shuffle=True)
    model = TwoTower(args.users, args.items)
    criterion = nn.CosineEmbeddingLoss(margin=args.margin)
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    logging.info("share of liked items %.3f", clicks.clicked.mean())
    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for user, item, clicked in loader:
            u, v = model(user, item)
            loss = criterion(u, v, clicked)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        logging.info("epoch %d loss %.5f precision@20 %.3f", epoch, total / len(loader), recall_at(model, clicks))


if __name__ == "__main__":
    main()
