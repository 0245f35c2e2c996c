import argparse
import copy
import logging
import math
import tempfile
from pathlib import Path

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, random_split

from leaves import Leaves
from nets import Backbone, Classifier

logging.basicConfig(level=logging.INFO, format="%(message)s")
log = logging.getLogger("transfer")


@torch.no_grad()
def accuracy(model, loader):
    was_training = model.training
    model.eval()
    hits = sum((model(x).argmax(1) == y).sum().item() for x, y in loader)
    model.train(was_training)
    return hits / len(loader.dataset)


def optimizer_for(model, lr, head_lr):
    body = [p for p in model.backbone.parameters() if p.requires_grad]
    groups = [{"params": model.head.parameters(), "lr": head_lr}]
    if body:
        groups.append({"params": body, "lr": lr})
    return torch.optim.AdamW(groups, weight_decay=0.01)


def fit(model, train, valid, epochs, lr, head_lr, batch_size, warm_head=0):
    loader = DataLoader(train, batch_size, shuffle=True, drop_last=True)
    valid_loader = DataLoader(valid, 128)
    optimizer = optimizer_for(model, lr, head_lr)
    total, warm = epochs * len(loader), len(loader) // 2
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda s: min((s + 1) / warm, 0.5 * (1 + math.cos(math.pi * s / total))))
    best, best_state, skipped = 0.0, copy.deepcopy(model.state_dict()), 0
    model.train()
    for epoch in range(epochs):
        for x, y in loader:
            loss = F.cross_entropy(model(x), y, label_smoothing=0.05)
            optimizer.zero_grad()
            loss.backward()
            if epoch < warm_head:
                for p in model.backbone.parameters():
                    p.grad = None
            norm = torch.nn.utils.clip_grad_norm_([p for p in model.parameters() if p.grad is not None], 2.0)
            if torch.isfinite(norm):
                optimizer.step()
            else:
                skipped += 1
            schedule.step()
        score = accuracy(model, valid_loader)
        log.info("  epoch %d loss %.4f valid %.4f", epoch, loss.item(), score)
        if score > best:
            best, best_state = score, copy.deepcopy(model.state_dict())
    model.load_state_dict(best_state)
    log.info("  best %.4f, %d steps skipped", best, skipped)
    return model


def load_backbone(path, width):
    backbone = Backbone(width)
    state = torch.load(path)
    kept = {k.removeprefix("backbone."): v for k, v in state.items() if k.startswith("backbone.")}
    missing, unexpected = backbone.load_state_dict(kept, strict=False)
    log.info("backbone: %d tensors loaded, missing %s, unexpected %s", len(kept), missing, unexpected)
    return backbone


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--width", type=int, default=12)
    p.add_argument("--epochs", type=int, default=5)
    p.add_argument("--batch-size", type=int, default=32)
    p.add_argument("--frozen-stages", type=int, default=2)
    p.add_argument("--seed", type=int, default=4)
    args = p.parse_args()
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as tmp:
        log.info("herbarium")
        full = Leaves(1800, 12, "herbarium", seed=1)
        train, valid = random_split(full, [1500, 300], generator=torch.Generator().manual_seed(0))
        model = fit(Classifier(Backbone(args.width), 12), train, valid, args.epochs, 3e-3, 3e-3, args.batch_size)
        path = Path(tmp) / "herbarium.pt"
        torch.save(model.state_dict(), path)

        log.info("field")
        full = Leaves(700, 6, "field", seed=2)
        train, valid = random_split(full, [500, 200], generator=torch.Generator().manual_seed(0))
        model = Classifier(load_backbone(path, args.width), 6, frozen_stages=args.frozen_stages)
        fit(model, train, valid, args.epochs, 1e-3, 3e-3, args.batch_size, warm_head=1)


if __name__ == "__main__":
    main()
