"""Two stage GPipe on CPUs: rank 0 holds the trunk, rank 1 the head and the targets."""
import argparse

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, TensorDataset

from stage import FirstStage, LastStage


def loader(args):
    g = torch.Generator().manual_seed(9)
    x = torch.randn(args.samples, 32, generator=g)
    y = x[:, :4].sum(dim=1) + 0.1 * torch.randn(args.samples, generator=g)
    order = torch.Generator().manual_seed(args.seed)
    return DataLoader(TensorDataset(x, y), batch_size=args.batch, shuffle=True, generator=order)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--samples", type=int, default=2600)
    p.add_argument("--batch", type=int, default=64)
    p.add_argument("--epochs", type=int, default=4)
    p.add_argument("--width", type=int, default=64)
    p.add_argument("--seed", type=int, default=0)
    args = p.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(args.seed + rank)
    stage = FirstStage(rank, args.width) if rank == 0 else LastStage(rank, args.width)
    for epoch in range(args.epochs):
        losses = []
        for x, y in loader(args):
            if rank == 0:
                stage.step(x)
            else:
                losses.append(stage.step(y))
        if losses:
            print(f"epoch {epoch} mse {sum(losses) / len(losses):.4f}", flush=True)
        dist.barrier()
    torch.save(stage.net.state_dict(), f"stage{rank}.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
