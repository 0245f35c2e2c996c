import argparse
import logging

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

from listens import ratings
from towers import TwoTowers


@torch.no_grad()
def rmse(model, data):
    model.eval()
    users, items, stars = data
    value = F.mse_loss(model(users, items), stars).sqrt().item()
    model.train()
    return value


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--pretrained", default=None)
    p.add_argument("--out", default="ranker.pt")
    p.add_argument("--ratings", type=int, default=3000)
    p.add_argument("--epochs", type=int, default=8)
    p.add_argument("--lr", type=float, default=3e-3)
    args = p.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(name)s %(message)s")
    torch.manual_seed(1)
    model = TwoTowers(pretrained=args.pretrained)
    loader = DataLoader(TensorDataset(*ratings(args.ratings, seed=2)), 64, shuffle=True)
    test = ratings(2000, seed=3)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr, weight_decay=1e-5)
    for epoch in range(args.epochs):
        total = 0.0
        for users, items, stars in loader:
            loss = F.mse_loss(model(users, items), stars)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch} mse {total / len(loader):.4f} test rmse {rmse(model, test):.4f}", flush=True)
    torch.save(model.state_dict(), args.out)


if __name__ == "__main__":
    main()
