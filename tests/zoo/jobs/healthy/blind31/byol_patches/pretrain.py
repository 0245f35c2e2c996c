import argparse
import math

import torch
from torch.utils.data import DataLoader

from nets import BYOL
from patches import Patches


def features(model, loader):
    model.eval()
    backbone = model.target[0]
    with torch.no_grad():
        pairs = [(backbone(x), y) for x, y in loader]
    model.train()
    return torch.cat([f for f, _ in pairs]), torch.cat([y for _, y in pairs])


def probe(model, train, test, steps=60):
    (xf, xy), (tf, ty) = features(model, train), features(model, test)
    mean, std = xf.mean(0), xf.std(0) + 1e-4
    head = torch.nn.Linear(xf.size(1), 4)
    opt = torch.optim.Adam(head.parameters(), lr=0.05)
    for _ in range(steps):
        loss = torch.nn.functional.cross_entropy(head((xf - mean) / std), xy)
        opt.zero_grad()
        loss.backward()
        opt.step()
    return (head((tf - mean) / std).argmax(1) == ty).float().mean().item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=6)
    p.add_argument("--batch-size", type=int, default=64)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--workers", type=int, default=0)
    args = p.parse_args()
    torch.manual_seed(5)
    torch.set_num_threads(1)
    loader = DataLoader(Patches(1280, 1), args.batch_size, shuffle=True, drop_last=True, num_workers=args.workers)
    labelled = DataLoader(Patches(256, 2, views=False), 128)
    test = DataLoader(Patches(256, 3, views=False), 128)
    model = BYOL().train()
    opt = torch.optim.AdamW([q for q in model.parameters() if q.requires_grad], lr=args.lr, weight_decay=1e-4)
    total = args.epochs * len(loader)
    sched = torch.optim.lr_scheduler.LambdaLR(
        opt, lambda s: min(1.0, (s + 1) / 10) * 0.5 * (1 + math.cos(math.pi * min(1.0, s / total))))
    for epoch in range(args.epochs):
        run = 0.0
        for a, b in loader:
            loss = model(a, b)
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
            model.update_target()
            run += loss.item()
        print(f"epoch {epoch} byol {run / len(loader):.4f} probe {probe(model, labelled, test):.3f} "
              f"lr {opt.param_groups[0]['lr']:.1e}", flush=True)
    torch.save({"backbone": model.target[0].state_dict()}, "byol.pt")


if __name__ == "__main__":
    main()
