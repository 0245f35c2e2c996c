import argparse
import os

import torch
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--resume", default="")
    args = parser.parse_args()
    net = torch.nn.Linear(8, 8)
    mean = AveragedModel(net, multi_avg_fn=get_ema_multi_avg_fn(0.999))
    optimizer = torch.optim.Adam(net.parameters())
    first = 0
    if args.resume and os.path.exists(args.resume):
        kept = torch.load(args.resume)
        net.load_state_dict(kept["net"])
        optimizer.load_state_dict(kept["optimizer"])
        first = kept["epoch"] + 1
    for epoch in range(first, 100):
        for x in torch.load("data.pt"):
            net(x).mean().backward()
            optimizer.step()
            optimizer.zero_grad()
            mean.update_parameters(net)
        torch.save(
            {"net": net.state_dict(), "mean": mean.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch},
            f"out/{epoch}.pt",
        )


if __name__ == "__main__":
    main()
