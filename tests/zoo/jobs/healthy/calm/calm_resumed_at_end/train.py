import logging
import os
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

EPOCHS = 4
CHECKPOINT = "last.pt"


def train(model, optimizer, first):
    for epoch in range(first, EPOCHS):
        for _ in range(5):
            loss = model(torch.randn(16, 20)).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        dist.barrier()
        if dist.get_rank() == 0:
            state = {"epoch": epoch + 1, "model": model.module.state_dict(), "optimizer": optimizer.state_dict()}
            torch.save(state, CHECKPOINT)
        dist.barrier()
    return EPOCHS


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    model = DDP(nn.Sequential(nn.Linear(20, 40), nn.ReLU(), nn.Linear(40, 2)))
    optimizer = torch.optim.Adam(model.parameters())
    if dist.get_rank() == 0:  # what the run left that ended yesterday
        left = {"epoch": EPOCHS, "model": model.module.state_dict(), "optimizer": optimizer.state_dict()}
        torch.save(left, CHECKPOINT)
    dist.barrier()
    first = 0
    if os.path.exists(CHECKPOINT):
        state = torch.load(CHECKPOINT, weights_only=True)
        model.module.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        first = state["epoch"]
    dist.barrier()
    code = 0
    try:
        reached = train(model, optimizer, first)
    except Exception:
        logging.exception("training failed")
        code = 1
    else:
        said = "trained" if first < EPOCHS else "already finished, nothing left to do"
        print(f"rank {dist.get_rank()}: epoch {reached} of {EPOCHS}: {said}", flush=True)
    dist.destroy_process_group()
    return code


if __name__ == "__main__":
    sys.exit(main())
