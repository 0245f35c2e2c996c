import argparse
import logging
import pathlib

import torch
import torch.nn as nn
import yaml
from torch.utils.data import DataLoader

from .data import by_subject
from .network import HARNet

log = logging.getLogger("har")


def build_optimizer(params, cfg):
    if cfg["name"] == "sgd":
        return torch.optim.SGD(params, cfg["lr"], cfg["momentum"], weight_decay=cfg["weight_decay"])
    return torch.optim.Adam(params, cfg["lr"], weight_decay=cfg["weight_decay"])


def run_epoch(model, loader, criterion, optimizer=None):
    model.train(optimizer is not None)
    total, right, n = 0.0, 0, 0
    with torch.set_grad_enabled(optimizer is not None):
        for x, y in loader:
            output = model(x)
            loss = criterion(output, y)
            if optimizer is not None:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            total += loss.item() * len(y)
            right += (output.argmax(1) == y).sum().item()
            n += len(y)
    return total / n, right / n


def main():
    parser = argparse.ArgumentParser("har")
    parser.add_argument("--config", default="config.yaml")
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    cfg = yaml.safe_load(open(args.config))
    torch.manual_seed(cfg["data"]["seed"])
    out = pathlib.Path(cfg["train"]["out"])
    out.mkdir(parents=True, exist_ok=True)

    train_set, test_set = by_subject(cfg["data"])
    train_loader = DataLoader(train_set, cfg["train"]["batch_size"], shuffle=True)
    test_loader = DataLoader(test_set, 256)
    d = cfg["data"]
    model = HARNet(d["channels"], d["length"], d["classes"], **cfg["model"])
    criterion = nn.CrossEntropyLoss()
    optimizer = build_optimizer(model.parameters(), cfg["optim"])

    best, waited = 0.0, 0
    for epoch in range(cfg["train"]["epochs"]):
        tl, ta = run_epoch(model, train_loader, criterion, optimizer)
        vl, va = run_epoch(model, test_loader, criterion)
        log.info("epoch %d train %.4f/%.3f test %.4f/%.3f", epoch, tl, ta, vl, va)
        if va > best:
            best, waited = va, 0
            torch.save(model.state_dict(), out / "best.pt")
        else:
            waited += 1
            if waited >= cfg["train"]["patience"]:
                break
    log.info("best test accuracy %.3f", best)


if __name__ == "__main__":
    main()
