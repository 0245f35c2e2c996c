"""A rank whose loss is no number skips the rest of the round, and with it the backward of all."""
import math

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def compute_loss(model, batch, scaler):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = model(batch)
        return (out * scaler).log().mean()


def finite(loss):
    return math.isfinite(loss.item())


def main():
    dist.init_process_group("gloo")
    model = DDP(torch.nn.Linear(4, 1))
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(100):
        loss = compute_loss(model, torch.randn(8, 4), 2.0)
        if not finite(loss):  # cause
            print("skipping step", step)
            continue  # cause
        opt.zero_grad()
        loss.backward()
        opt.step()
    dist.destroy_process_group()


main()
