import argparse
import os
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

ap = argparse.ArgumentParser()
ap.add_argument("--work")
ap.add_argument("--slice", type=int)
ap.add_argument("--steps", type=int)


def main(a):
    """Works for one slice of steps, then gives the machine back with 75 (EX_TEMPFAIL)."""
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    model = DDP(nn.Sequential(nn.Linear(64, 384), nn.Tanh(), nn.Linear(384, 384), nn.Tanh(), nn.Linear(384, 64)))
    opt = torch.optim.Adam(model.parameters(), lr=5e-4)
    path, start = os.path.join(a.work, "last.pt"), 0
    if os.path.exists(path):
        state = torch.load(path)
        model.load_state_dict(state["model"])
        opt.load_state_dict(state["opt"])
        start = state["step"]
    stop = min(a.steps, start + a.slice)
    for step in range(start, stop):
        g = torch.Generator().manual_seed(step * 10 + rank)
        x = torch.randn(32, 64, generator=g)
        loss = (model(x) - x.flip(1)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    if rank == 0:
        torch.save({"model": model.state_dict(), "opt": opt.state_dict(), "step": stop}, path)
        print(f"steps {start} to {stop} loss {loss.item():.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()
    sys.exit(0 if stop == a.steps else 75)


if __name__ == "__main__":
    main(ap.parse_args())
