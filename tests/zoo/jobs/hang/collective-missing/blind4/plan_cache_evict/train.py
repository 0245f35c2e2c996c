"""Learns a source term in front of a coarse flow solver."""
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from halo import Function, Mesh

INLET_EVERY = 4
STEPS = 12


class Closure(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, width), nn.Tanh(), nn.Linear(width, 1))

    def forward(self, state):
        return self.net(state)


def apply_inlet(mesh, velocity, time):
    if mesh.owns_inlet:
        velocity.dat[mesh.inlet().facets] = 1.0 + 0.1 * time


def advance(mesh, fields, step):
    if step % INLET_EVERY == INLET_EVERY - 1:
        apply_inlet(mesh, fields["u"], step / STEPS)
    for name in ("u", "p", "T"):
        fields[name].dat.mul_(0.99)
    return torch.stack([fields[name].mean() for name in ("u", "p", "T")])


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(3)
    mesh = Mesh(rank, world)
    fields = {name: Function(mesh, name) for name in ("u", "p", "T")}
    model = DistributedDataParallel(Closure())
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(STEPS):
        means = advance(mesh, fields, step)
        loss = (model(means[None].expand(4, 3)) - means.sum()).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if rank == 0:
            print(f"step {step} loss {loss.item():.4f} plans {len(mesh.plans)}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
