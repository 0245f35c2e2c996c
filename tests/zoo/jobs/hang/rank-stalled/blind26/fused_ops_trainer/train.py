import argparse
import logging

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from ops import load_fused, swiglu


class GatedMLP(nn.Module):
    def __init__(self, d_in=12, dim=32, depth=3, library=None):
        super().__init__()
        self.library = library
        self.stem = nn.Linear(d_in, dim)
        self.up = nn.ModuleList(nn.Linear(dim, 2 * dim) for _ in range(depth))
        self.down = nn.ModuleList(nn.Linear(dim, dim) for _ in range(depth))
        self.head = nn.Linear(dim, 1)

    def forward(self, x):
        h = self.stem(x)
        for up, down in zip(self.up, self.down):
            h = h + down(swiglu(up(h), self.library))
        return self.head(h)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--no-fused", action="store_true")
    args = parser.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(level=logging.INFO, format=f"rank{rank} %(levelname)s %(message)s")
    library = None if args.no_fused else load_fused("swiglu")
    torch.manual_seed(3)
    model = DDP(GatedMLP(library=library))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    gen = torch.Generator().manual_seed(rank)
    for step in range(args.steps):
        x = torch.randn(32, 12, generator=gen)
        y = x[:, :3].prod(1, keepdim=True)
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        if rank == 0 and step % 10 == 0:
            logging.info("step %d loss %.4f", step, loss.item())
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
