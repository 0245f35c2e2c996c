import argparse
import json
import logging

import torch
import torch.nn.functional as F

from data import CALL_TYPES, build_loaders
from model import CallNet

log = logging.getLogger("calls")


def train_epoch(model, loader, optimizer):
    model.train()
    total, seen = 0.0, 0
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        total += loss.item() * len(y)
        seen += len(y)
    return total / seen


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    hits = torch.zeros(len(CALL_TYPES))
    support = torch.zeros(len(CALL_TYPES))
    for x, y in loader:
        pred = model(x).argmax(1)
        for c in range(len(CALL_TYPES)):
            hits[c] += ((pred == c) & (y == c)).sum()
            support[c] += (y == c).sum()
    return (hits / support.clamp(min=1)).tolist()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", default="config.json")
    parser.add_argument("--epochs", type=int)
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    with open(args.config) as f:
        cfg = json.load(f)
    cfg["epochs"] = args.epochs or cfg["epochs"]
    torch.manual_seed(cfg["seed"])
    train_loader, val_loader = build_loaders(cfg)
    model = CallNet(len(CALL_TYPES))
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg["lr"], weight_decay=cfg["weight_decay"])
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=cfg["epochs"])
    best = -1.0
    for epoch in range(cfg["epochs"]):
        loss = train_epoch(model, train_loader, optimizer)
        scheduler.step()
        recalls = evaluate(model, val_loader)
        macro = sum(recalls) / len(recalls)
        log.info("epoch %d  loss %.4f  macro recall %.3f  %s", epoch, loss, macro,
                 " ".join(f"{n}={r:.2f}" for n, r in zip(CALL_TYPES, recalls)))
        if macro > best:
            best = macro
            torch.save({"model": model.state_dict(), "config": cfg, "epoch": epoch}, cfg["checkpoint"])
    log.info("best macro recall %.3f", best)


if __name__ == "__main__":
    main()
