import argparse
import os
from dataclasses import dataclass

import torch
import torch.distributed as dist
import torch.nn.functional as F

from halo import RingHalo


@dataclass
class Grid:
    rows: int
    cols: int
    dx: float
    dt: float


class HeatSolver:
    def __init__(self, grid, device):
        self.grid = grid
        self.device = device
        self.halo = RingHalo(depth=1)
        local_rows = grid.rows // dist.get_world_size()
        gen = torch.Generator().manual_seed(dist.get_rank())
        self.u = torch.rand(1, 1, local_rows, grid.cols, generator=gen).to(device)
        kernel = torch.tensor([[0.0, 1.0, 0.0], [1.0, -4.0, 1.0], [0.0, 1.0, 0.0]], device=device)
        self.kernel = kernel.view(1, 1, 3, 3) / grid.dx**2

    def laplacian(self):
        tall = self.halo.pad(self.u)
        wide = F.pad(tall, (1, 1, 0, 0), mode="circular")
        return F.conv2d(wide, self.kernel)

    def advance(self):
        self.u = self.u + self.grid.dt * self.laplacian()

    def energy(self):
        e = (self.u**2).sum()
        dist.all_reduce(e)
        return e.item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--rows", type=int, default=8192)
    ap.add_argument("--cols", type=int, default=8192)
    ap.add_argument("--steps", type=int, default=1000)
    args = ap.parse_args()
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    solver = HeatSolver(Grid(args.rows, args.cols, 1.0, 0.1), torch.device("cuda", local))
    for step in range(args.steps):
        solver.advance()
        if step % 100 == 0:
            e = solver.energy()
            if dist.get_rank() == 0:
                print(step, e)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
