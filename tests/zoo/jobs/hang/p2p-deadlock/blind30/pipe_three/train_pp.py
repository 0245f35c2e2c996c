"""Tabular regression with the layers spread over pipeline stages."""
import argparse
import time

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

from pp.comm import StageComm
from pp.schedule import Schedule1F1B


def build_stage(rank, world_size, features, hidden, layers):
    torch.manual_seed(1234)
    blocks = [nn.Sequential(nn.Linear(hidden, hidden), nn.LayerNorm(hidden), nn.GELU()) for _ in range(layers)]
    per_stage = (layers + world_size - 1) // world_size
    mine = blocks[rank * per_stage : (rank + 1) * per_stage]
    if rank == 0:
        mine.insert(0, nn.Linear(features, hidden))
    if rank == world_size - 1:
        mine.append(nn.Linear(hidden, 1))
    return nn.Sequential(*mine)


def make_data(rows, features):
    g = torch.Generator().manual_seed(7)
    x = torch.randn(rows, features, generator=g)
    w = torch.randn(features, generator=g)
    y = torch.tanh(x @ w / features**0.5) + 0.05 * torch.randn(rows, generator=g)
    return x, y[:, None]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--rows", type=int, default=1032)
    ap.add_argument("--features", type=int, default=20)
    ap.add_argument("--hidden", type=int, default=64)
    ap.add_argument("--layers", type=int, default=6)
    ap.add_argument("--batch-size", type=int, default=64)
    ap.add_argument("--micro-batch-size", type=int, default=8)
    ap.add_argument("--epochs", type=int, default=3)
    ap.add_argument("--lr", type=float, default=2e-3)
    ap.add_argument("--log-every", type=int, default=4)
    args = ap.parse_args()

    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.set_num_threads(1)
    stage = build_stage(rank, world, args.features, args.hidden, args.layers)
    comm = StageComm(rank, world, args.hidden)
    schedule = Schedule1F1B(stage, comm, nn.functional.mse_loss, args.micro_batch_size)
    opt = torch.optim.AdamW(stage.parameters(), lr=args.lr)
    data = make_data(args.rows, args.features)
    loader = DataLoader(
        TensorDataset(*data),
        batch_size=args.batch_size,
        shuffle=True,
        generator=torch.Generator().manual_seed(0),
    )

    step = 0
    for epoch in range(args.epochs):
        start = time.time()
        for x, y in loader:
            loss = schedule.step(x, y)
            opt.step()
            opt.zero_grad()
            step += 1
            if comm.is_last and step % args.log_every == 0:
                print(f"epoch {epoch} step {step} loss {loss.item():.4f}", flush=True)
        dist.barrier()
        if rank == 0:
            print(f"epoch {epoch} done in {time.time() - start:.1f}s", flush=True)
        torch.save(stage.state_dict(), f"stage_{rank}.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
