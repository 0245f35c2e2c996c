import argparse
import pathlib
import sys

import torch
from torch import nn


def parse(argv=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("--steps", type=int, default=5)
    args = parser.parse_args(argv)
    if args.lr <= 0:
        parser.error(f"--lr must be positive, not {args.lr}")
    return args


def main():
    args = parse()
    torch.manual_seed(0)
    if args.data:
        x, y = torch.load(args.data)
    else:
        x = torch.randn(64, 4)
        y = x.mean(1, keepdim=True)
    model = nn.Linear(4, 1)
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    for step in range(args.steps):
        loss = nn.functional.mse_loss(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    if not torch.isfinite(loss):
        sys.exit("training diverged")
    print(f"final loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
