import argparse
import datetime
import os
import time

import torch
import torch.distributed as dist

from stages import Pipeline, build_stage


def prepare(path, rows=1600):
    """One pass over the raw series; takes its time."""
    g = torch.Generator().manual_seed(2)
    x = torch.randn(rows, 10, generator=g)
    y = torch.tanh(x[:, 0]) + x[:, 1] * x[:, 2]
    began = time.time()
    while time.time() - began < 6:
        x = x + 0.0 * torch.linalg.svdvals(x[:200, :]).sum()
    torch.save({"x": x, "y": y}, path + ".part")
    os.replace(path + ".part", path)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--data", default="series.pt")
    ap.add_argument("--epochs", type=int, default=3)
    ap.add_argument("--rows", type=int, default=10)
    ap.add_argument("--micro", type=int, default=4)
    ap.add_argument("--dim", type=int, default=24)
    args = ap.parse_args()
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=120))
    rank, size = dist.get_rank(), dist.get_world_size()
    if rank == 0:
        prepare(args.data)
    dist.barrier()
    data = torch.load(args.data)
    module = build_stage(rank, args.dim)
    optimizer = torch.optim.AdamW(module.parameters(), lr=3e-3 if rank < 2 else 1e-3)
    pipe = Pipeline(module, rank, size, args.micro, args.dim)
    per_step = args.rows * args.micro
    for epoch in range(args.epochs):
        order = torch.randperm(len(data["x"]), generator=torch.Generator().manual_seed(epoch))
        losses = []
        for chunk in order.split(per_step):
            inputs, targets = data["x"][chunk].split(args.rows), data["y"][chunk].split(args.rows)
            optimizer.zero_grad()
            losses.append(pipe.step(inputs, targets, args.rows))
            optimizer.step()
        if rank == size - 1:
            print(f"epoch {epoch} loss {sum(losses) / len(losses):.4f}", flush=True)
        torch.save(module.state_dict(), f"stage{rank}.pt")
    dist.barrier()
    dist.destroy_process_group()
    if rank == size - 1:
        time.sleep(2)
        print("stages written", flush=True)


if __name__ == "__main__":
    main()
