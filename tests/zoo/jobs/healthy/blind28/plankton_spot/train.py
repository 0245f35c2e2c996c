import argparse
import os
import time
from pathlib import Path

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

from interrupt import Interrupt, Slot
from plankton import Plankton, SpotNet, without_broken


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--state", type=Path, default=Path("state"))
    parser.add_argument("--slot", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--batch", type=int, default=20)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--rest", type=float, default=0.02, help="pause after each step: the camera's host is shared")
    return parser.parse_args()


def save(path, model, optimizer, epoch):
    path.mkdir(exist_ok=True)
    part = path / "last.part"
    torch.save({"model": model.module.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}, part)
    os.replace(part, path / "last.pt")


def main():
    args = parse()
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    interrupt = Interrupt()
    slot = Slot(args.slot)

    torch.manual_seed(2)
    data = Plankton()
    sampler = DistributedSampler(data, seed=2, drop_last=True)
    loader = DataLoader(data, args.batch, sampler=sampler, collate_fn=without_broken, drop_last=True)
    model = DistributedDataParallel(SpotNet())
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    first = 0
    if (args.state / "last.pt").exists():
        last = torch.load(args.state / "last.pt", weights_only=True)
        model.module.load_state_dict(last["model"])
        optimizer.load_state_dict(last["optimizer"])
        first = last["epoch"]
        print(f"rank {rank} goes on with epoch {first}", flush=True)

    done = first
    for epoch in range(first, args.epochs):
        sampler.set_epoch(epoch)
        for image, kind in loader:
            loss = torch.nn.functional.cross_entropy(model(image), kind)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            time.sleep(args.rest)
            if rank == 0:
                slot.tick()
        done = epoch + 1
        if rank == 0:
            print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
            save(args.state, model, optimizer, done)
        if interrupt.agreed():
            print(f"rank {rank} interrupted after epoch {epoch}", flush=True)
            break
    if rank == 0 and done == args.epochs:
        (args.state / "complete").touch()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
