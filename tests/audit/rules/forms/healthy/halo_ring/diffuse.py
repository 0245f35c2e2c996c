import argparse
import os

import torch
import torch.distributed as dist

from halo import Ring


class Solver:
    def __init__(self, cells, height, nu, dt, device):
        self.ring = Ring()
        gen = torch.Generator(device).manual_seed(self.ring.rank)
        self.field = torch.rand(height, cells // self.ring.size, device=device, generator=gen)
        self.nu, self.dt = nu, dt

    def laplace(self, padded):
        inner = padded[:, 1:-1]
        across = padded[:, 2:] + padded[:, :-2] - 2 * inner
        down = torch.roll(inner, 1, 0) + torch.roll(inner, -1, 0) - 2 * inner
        return across + down

    def advance(self, steps):
        for _ in range(steps):
            self.field += self.dt * self.nu * self.laplace(self.ring.pad(self.field))

    def total(self):
        value = self.field.double().sum()
        dist.all_reduce(value)
        return value.item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--cells", type=int, default=8192)
    ap.add_argument("--height", type=int, default=2048)
    ap.add_argument("--nu", type=float, default=0.1)
    ap.add_argument("--dt", type=float, default=0.2)
    ap.add_argument("--rounds", type=int, default=40)
    args = ap.parse_args()
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    solver = Solver(args.cells, args.height, args.nu, args.dt, torch.device("cuda", local))
    for n in range(args.rounds):
        solver.advance(100)
        mass = solver.total()
        if dist.get_rank() == 0:
            print(n, f"{mass:.6f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
