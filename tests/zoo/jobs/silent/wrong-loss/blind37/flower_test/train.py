import argparse

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)


def load(n, seed):
    g = torch.Generator().manual_seed(seed)
    centers = torch.randn(5, 16, generator=torch.Generator().manual_seed(8))
    y = torch.randint(0, 5, (n,), generator=g)
    return centers[y] + 1.1 * torch.randn(n, 16, generator=g), y


def make_loader(x, y, batch_size):
    return DataLoader(TensorDataset(x, y), batch_size=batch_size, shuffle=True)


def macro_f1(pred, true, classes):
    scores = []
    for c in range(classes):
        tp = np.sum((pred == c) & (true == c))
        fp = np.sum((pred == c) & (true != c))
        fn = np.sum((pred != c) & (true == c))
        scores.append(2 * tp / max(2 * tp + fp + fn, 1))
    return float(np.mean(scores))


def confusion(pred, true, classes):
    table = np.zeros((classes, classes), dtype=int)
    np.add.at(table, (true, pred), 1)
    return table


@torch.no_grad()
def predict(model, loader):
    model.eval()
    return torch.cat([model(x).argmax(1) for x, _ in loader]).numpy()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=12)
    ap.add_argument("--batch-size", type=int, default=40)
    ap.add_argument("--lr", type=float, default=2e-3)
    args = ap.parse_args()
    torch.manual_seed(0)
    x_train, y_train = load(4000, 0)
    x_test, y_test = load(1000, 1)
    train_loader = make_loader(x_train, y_train, args.batch_size)
    test_loader = make_loader(x_test, y_test, 200)
    model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 5))
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(args.epochs):
        model.train()
        loss_sum = hits = 0
        for x, y in train_loader:
            out = model(x)
            loss = criterion(out, y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            loss_sum += loss.item() * len(y)
            hits += (out.argmax(1) == y).sum().item()
        n = len(train_loader.dataset)
        print(f"epoch {epoch + 1:2d} loss {loss_sum / n:.4f} acc {hits / n:.3f}", flush=True)
    pred = predict(model, test_loader)
    print("test macro F1:", round(macro_f1(pred, y_test.numpy(), 5), 4))
    print(confusion(pred, y_test.numpy(), 5))


if __name__ == "__main__":
    main()
