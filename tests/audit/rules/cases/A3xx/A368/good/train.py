import sys

import torch
from torch.optim.lr_scheduler import CosineAnnealingLR, LinearLR, SequentialLR

from data import loader
from net import Net


def main(resume=None, epochs=100):
    model = Net()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    warmup = LinearLR(optimizer, start_factor=0.05, total_iters=10)
    cosine = CosineAnnealingLR(optimizer, T_max=epochs - 10)
    scheduler = SequentialLR(optimizer, [warmup, cosine], milestones=[10])
    start = 0
    if resume:
        state = torch.load(resume, map_location="cpu")
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        scheduler.load_state_dict(state["scheduler"])
        start = state["epoch"] + 1
    for epoch in range(start, epochs):
        for x, y in loader():
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
        scheduler.step()
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(),
                    "scheduler": scheduler.state_dict(), "epoch": epoch}, "last.pt")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
