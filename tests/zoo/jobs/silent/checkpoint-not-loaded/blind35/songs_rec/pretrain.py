import argparse
import logging

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

from listens import implicit
from towers import TwoTowers

if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--out", default="towers.pt")
    p.add_argument("--events", type=int, default=60000)
    p.add_argument("--epochs", type=int, default=6)
    args = p.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(name)s %(message)s")
    torch.manual_seed(0)
    loader = DataLoader(TensorDataset(*implicit(args.events, seed=1)), 512, shuffle=True)
    model = TwoTowers()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(args.epochs):
        total = 0.0
        for users, items, played in loader:
            loss = F.binary_cross_entropy_with_logits(model(users, items), played)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"pretrain epoch {epoch} loss {total / len(loader):.4f}", flush=True)
    torch.save(model.state_dict(), args.out)
