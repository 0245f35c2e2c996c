import argparse

import torch

from net import Net, loader


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--resume", default="")
    parser.add_argument("--epochs", type=int, default=10)
    args = parser.parse_args()
    checkpoint, start = None, 0
    if args.resume:
        checkpoint = torch.load(args.resume, map_location="cpu", weights_only=False)
        args = checkpoint["args"]
        start = checkpoint["epoch"] + 1
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if args.resume:
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
    for epoch in range(start, args.epochs):
        for x, y in loader():
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
        state = {"args": args, "epoch": epoch, "model": model.state_dict(), "optimizer": optimizer.state_dict()}
        torch.save(state, f"{epoch}.pt")


main()
