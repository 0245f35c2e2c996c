import argparse

import torch
import torch.distributed as dist

from ckpt import load, save
from zero import ShardedMomentum


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--resume", action="store_true")
    args = parser.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(9, 30), torch.nn.ReLU(), torch.nn.Linear(30, 1))
    optim = ShardedMomentum(model, lr=0.02)
    first = load(args.out, model, optim) if args.resume else 0
    gen = torch.Generator().manual_seed(1000 * first + rank)
    for step in range(first, args.steps):
        x = torch.randn(16, 9, generator=gen)
        loss = (model(x).squeeze(1) - x.sum(1)).square().mean()
        model.zero_grad()
        loss.backward()
        optim.step()
    if rank == 0:
        print(f"step {args.steps} loss {loss.item():.4f}", flush=True)
    save(args.out, args.steps, model, optim)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
