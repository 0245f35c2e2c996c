import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)


def clicks(n, seed):
    g = torch.Generator().manual_seed(seed)
    ids = torch.randint(0, 50, (n, 4), generator=g)
    weight = torch.randn(4, 50, generator=torch.Generator().manual_seed(2))
    score = sum(weight[f][ids[:, f]] for f in range(4)) - 1.5
    return TensorDataset(ids, (torch.rand(n, generator=g) < score.sigmoid()).float())


class WideAndDeep(nn.Module):
    def __init__(self, dim=8, p=0.2):
        super().__init__()
        self.emb = nn.ModuleList(nn.Embedding(50, dim) for _ in range(4))
        self.wide = nn.ModuleList(nn.Embedding(50, 1) for _ in range(4))
        self.deep = nn.Sequential(nn.Linear(4 * dim, 32), nn.ReLU(), nn.Dropout(p), nn.Linear(32, 1))

    def forward(self, ids):
        deep = self.deep(torch.cat([e(ids[:, i]) for i, e in enumerate(self.emb)], 1))
        wide = sum(w(ids[:, i]) for i, w in enumerate(self.wide))
        return deep + wide


def train_epoch(model, loader, opt, criterion):
    model.train()
    total = 0.0
    for ids, click in loader:
        logits = model(ids).squeeze(1)
        loss = criterion(logits, click)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    return total / len(loader)


def evaluate(model, loader):
    was_training = model.training
    model.eval()
    probs, clicks_ = [], []
    with torch.no_grad():
        for ids, click in loader:
            probs.append(model(ids).sigmoid().squeeze(1))
            clicks_.append(click)
    model.train(was_training)
    p, y = torch.cat(probs), torch.cat(clicks_)
    acc = ((p > 0.5).float() == y).float().mean().item()
    pos, neg = p[y == 1], p[y == 0]
    auc = (pos[:, None] > neg[None]).float().mean().item()
    return acc, auc, (p.mean() - y.mean()).item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=6)
    ap.add_argument("--lr", type=float, default=3e-3)
    args = ap.parse_args()
    torch.manual_seed(0)
    data = clicks(8000, 0)
    rate = data.tensors[1].mean()
    pos_weight = None if 0.2 < rate < 0.8 else (1 - rate) / rate
    train = DataLoader(data, batch_size=80, shuffle=True)
    test = DataLoader(clicks(2000, 1), batch_size=500)
    model = WideAndDeep()
    opt = torch.optim.Adam(model.parameters(), lr=args.lr, weight_decay=1e-5)
    criterion = nn.BCEWithLogitsLoss(pos_weight=pos_weight)
    for epoch in range(args.epochs):
        loss = train_epoch(model, train, opt, criterion)
        acc, auc, bias = evaluate(model, test)
        print(f"epoch {epoch} bce {loss:.4f} acc {acc:.3f} auc {auc:.3f} bias {bias:+.3f}", flush=True)


if __name__ == "__main__":
    main()
