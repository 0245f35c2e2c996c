import argparse
import time

import torch
import torch.distributed as dist

from gpipe.engine import Engine
from gpipe.roles import build


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--length", type=int, default=8)
    parser.add_argument("--chunks", type=int, default=4)
    return parser.parse_args()


def export(rank, module):
    """The last stage takes its time to write tables for the analysis."""
    start = time.monotonic()
    rounds = 0
    while time.monotonic() - start < 4.0:
        weight = next(module.parameters())
        torch.linalg.svdvals(weight.detach())
        rounds += 1
    print(f"rank {rank}: {rounds} spectra", flush=True)


def main():
    args = parse()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(rank)
    module = build(rank, world)
    engine = Engine(module, args.batch, args.length, args.chunks, slow_seconds=0.1 if rank == 1 else 0.0)
    optimizer = torch.optim.Adam(module.parameters(), lr=1e-3)
    g = torch.Generator().manual_seed(0)
    for step in range(args.steps):
        tokens = torch.randint(0, 50, (args.batch, args.length), generator=g)
        optimizer.zero_grad()
        loss = engine.run(tokens, (tokens + 1) % 50)
        optimizer.step()
        if loss is not None and step % 4 == 0:
            print(f"step {step} loss {loss:.4f}", flush=True)
    if rank == world - 1:
        export(rank, module)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
