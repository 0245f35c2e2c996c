import argparse
import os
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def latest(folder):
    found = sorted(folder.glob("epoch*.pt"))
    return found[-1] if found else None


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--run", required=True)
    p.add_argument("--resume", choices=["auto", "never"], default="never")
    p.add_argument("--epochs", type=int, default=8)
    args = p.parse_args()
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    folder = Path("runs") / args.run
    folder.mkdir(parents=True, exist_ok=True)
    dist.barrier()
    raw = torch.load("features.pt", map_location="cpu", weights_only=True)
    data = TensorDataset(raw["x"], raw["y"])
    model = DistributedDataParallel(nn.Linear(raw["x"].size(1), 1000).cuda(), device_ids=[local])
    opt = torch.optim.SGD(model.parameters(), lr=0.3, momentum=0.9)
    start = 0
    last = latest(folder) if args.resume == "auto" else None
    if last is not None:
        state = torch.load(last, map_location={"cuda:0": f"cuda:{local}"}, weights_only=True)
        model.load_state_dict(state["model"])
        opt.load_state_dict(state["opt"])
        start = state["epoch"] + 1
    sampler = DistributedSampler(data)
    loader = DataLoader(data, 1024, sampler=sampler)
    for epoch in range(start, args.epochs):
        sampler.set_epoch(epoch)
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x.cuda()), y.cuda())
            opt.zero_grad()
            loss.backward()
            opt.step()
        if dist.get_rank() == 0:
            tmp = folder / "saving.tmp"
            torch.save({"model": model.state_dict(), "opt": opt.state_dict(), "epoch": epoch}, tmp)
            tmp.rename(folder / f"epoch{epoch:03d}.pt")
        dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
