"""The options of the command line go into the checkpoint, and the next run cannot read it."""
import argparse

import torch


def main(args):
    model = torch.nn.Linear(3, 3)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    start = 0
    if args.resume:
        state = torch.load(args.resume, map_location="cpu")
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        start = state["epoch"] + 1
    for epoch in range(start, args.epochs):
        optimizer.step()
        torch.save({
            "model": model.state_dict(),
            "optimizer": optimizer.state_dict(),
            "epoch": epoch,
            "args": args,
        }, f"{args.out}/last.pt")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=1e-4)
    parser.add_argument("--resume", default="")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--out", default="runs")
    main(parser.parse_args())
