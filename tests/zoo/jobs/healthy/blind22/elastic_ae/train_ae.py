"""Autoencoder on sensor frames; goes on from its snapshot after a restart."""
import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from sensors import Frames, SensorGap


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--scratch", required=True)
    ap.add_argument("--epochs", type=int, default=6)
    args = ap.parse_args()
    snapshot = os.path.join(args.scratch, "snapshot.pt")
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(24, 6), nn.Tanh(), nn.Linear(6, 24)))
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    first = 0
    if os.path.exists(snapshot):
        state = torch.load(snapshot)
        model.module.load_state_dict(state["model"])
        opt.load_state_dict(state["opt"])
        first = state["epoch"]
        print(f"rank {rank}: going on with epoch {first}", flush=True)
    frames = Frames(rank, os.path.join(args.scratch, f"calibration{rank}.pt"))
    for epoch in range(first, args.epochs):
        for x in frames.epoch(epoch):
            loss = nn.functional.mse_loss(model(x), x)
            opt.zero_grad()
            loss.backward()
            opt.step()
        if rank == 0:
            torch.save({"epoch": epoch + 1, "model": model.module.state_dict(), "opt": opt.state_dict(), "loss": loss.item()}, snapshot + ".new")
            os.replace(snapshot + ".new", snapshot)
            print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
        dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
