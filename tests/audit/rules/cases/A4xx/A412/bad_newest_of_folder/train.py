import argparse
import os

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

from net import Net


def newest(folder):
    names = [one for one in os.listdir(folder) if one.endswith(".pt")]
    return os.path.join(folder, max(names)) if names else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", default="runs")
    args = parser.parse_args()
    raw = Net().cuda()
    optimizer = torch.optim.AdamW(raw.parameters())
    path = newest(args.folder)
    if path:
        state = torch.load(path, map_location="cpu")
        raw.load_state_dict(state["model"], strict=False)
        optimizer.load_state_dict(state["optimizer"])
    model = DDP(torch.compile(raw))
    for step in range(1000):
        model(step).backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % 100 == 0:
            state = {"model": model.module.state_dict(), "optimizer": optimizer.state_dict()}
            target = os.path.join(args.folder, f"step_{step}.pt")
            torch.save(state, target + ".tmp")
            os.replace(target + ".tmp", target)


main()
