import argparse
import tempfile
import time
from pathlib import Path

import torch
from torch.utils.data import DataLoader

from .dataset import Standardize, TrajectoryPairs
from .fno import FNO2d
from .simulate import write_shards


def relative_l2(pred, true):
    return ((pred - true).flatten(1).norm(dim=1) / true.flatten(1).norm(dim=1)).mean()


@torch.no_grad()
def test(model, loader):
    model.eval()
    errors = [relative_l2(model(x, dt), y).item() for x, y, dt in loader]
    model.train()
    return sum(errors) / len(errors)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--data", type=Path, help="folder of shards; made when left out")
    p.add_argument("--epochs", type=int, default=2)
    p.add_argument("--batch-size", type=int, default=16)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--size", type=int, default=32)
    p.add_argument("--steps", type=int, default=11)
    args = p.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)

    with tempfile.TemporaryDirectory() as tmp:
        root = args.data or Path(tmp)
        if args.data is None:
            for split, shards, seed in (("train", 8, 1), ("test", 1, 2)):
                (root / split).mkdir()
                write_shards(root / split, shards, 12, args.steps, args.size, seed)
        norm = Standardize(root / "train" / "shard_000.npz")
        train, held = (TrajectoryPairs(root / s, norm) for s in ("train", "test"))
        loader = DataLoader(train, args.batch_size, shuffle=True, drop_last=True)
        test_loader = DataLoader(held, 40)
        model = FNO2d()
        optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
        scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, args.epochs * len(loader))
        print(f"{len(train)} pairs, {sum(q.numel() for q in model.parameters())} parameters", flush=True)
        for epoch in range(args.epochs):
            start, total = time.time(), 0.0
            for x, y, dt in loader:
                loss = relative_l2(model(x, dt), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                scheduler.step()
                total += loss.item()
            print(f"epoch {epoch} train {total / len(loader):.4f} test {test(model, test_loader):.4f} "
                  f"{time.time() - start:.1f} s", flush=True)


if __name__ == "__main__":
    main()
