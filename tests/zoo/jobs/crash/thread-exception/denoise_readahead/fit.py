import argparse
import json
import time

import torch
from torch import nn

from loader import make_loader
from net import Denoiser
from prefetch import Prefetcher


def fit(model, loader, epochs, lr):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    history = []
    for epoch in range(epochs):
        began = time.time()
        losses = []
        for noisy, clean in Prefetcher(loader, [1.0] * 8):
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(noisy), clean)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        history.append(sum(losses) / max(len(losses), 1))
        print(f"epoch {epoch}: loss {history[-1]:.4f} in {time.time() - began:.1f} s", flush=True)
    return history


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--count", type=int, default=192)
    ap.add_argument("--batch-size", type=int, default=16)
    ap.add_argument("--epochs", type=int, default=2)
    ap.add_argument("--workers", type=int, default=0)
    ap.add_argument("--lr", type=float, default=1e-2)
    args = ap.parse_args()

    torch.manual_seed(0)
    model = Denoiser()
    history = fit(model, make_loader(args.count, args.batch_size, args.workers), args.epochs, args.lr)
    with open("history.json", "w") as f:
        json.dump(history, f)
    torch.save(model.state_dict(), "denoiser.pt")
