import argparse
import os

import torch
import torch.distributed as dist
import torch.nn.functional as F

from halo import Ring, pad_with_halo


def stencil(device, dtype):
    return torch.tensor([-0.5, 0.0, 0.5], device=device, dtype=dtype).view(1, 1, 3)


def initial(n_local, rank, world, rows, device):
    x = (torch.arange(n_local, device=device, dtype=torch.float64) + rank * n_local) / (n_local * world)
    return torch.sin(2 * torch.pi * x).repeat(rows, 1)


class Advection:
    def __init__(self, n_local, speed, dt, rows, device):
        self.ring = Ring()
        self.speed, self.dt = speed, dt
        self.dx = 1.0 / (n_local * self.ring.size)
        self.u = initial(n_local, self.ring.rank, self.ring.size, rows, device)
        self.kernel = stencil(device, self.u.dtype)

    def rhs(self, u):
        padded = pad_with_halo(u, 1, self.ring)
        grad = F.conv1d(padded.unsqueeze(1), self.kernel).squeeze(1) / self.dx
        return -self.speed * grad

    def step(self):
        k1 = self.rhs(self.u)
        k2 = self.rhs(self.u + 0.5 * self.dt * k1)
        k3 = self.rhs(self.u + 0.5 * self.dt * k2)
        k4 = self.rhs(self.u + self.dt * k3)
        self.u = self.u + self.dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    def mass(self):
        m = self.u.sum() * self.dx
        dist.all_reduce(m)
        return m.item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--cells", type=int, default=1 << 16)
    ap.add_argument("--rows", type=int, default=256)
    ap.add_argument("--steps", type=int, default=1000)
    ap.add_argument("--dt", type=float, default=1e-6)
    args = ap.parse_args()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl")
    sim = Advection(args.cells, 1.0, args.dt, args.rows, device)
    for i in range(args.steps):
        sim.step()
        if i % 100 == 0:
            mass = sim.mass()
            if dist.get_rank() == 0:
                print(f"step {i} mass {mass:.3e}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
