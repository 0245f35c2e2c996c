import argparse
import os

import torch
import torch.distributed as dist
from torch import nn

from .halo import pad_with_halo
from .layout import Layout
from .problem import burgers_batch

HALO = 4


def stencil_net(w=24):
    return nn.Sequential(nn.Conv1d(1, w, 5), nn.GELU(), nn.Conv1d(w, w, 3), nn.GELU(), nn.Conv1d(w, 1, 3))


def average_gradients(model, layout):
    world = dist.get_world_size()
    for p in model.parameters():
        dist.all_reduce(p.grad, group=layout.domain)
        dist.all_reduce(p.grad, group=layout.peers)
        p.grad.div_(world)


def local_slice(field, layout):
    n = field.shape[-1] // layout.parts
    return field[..., layout.part * n:(layout.part + 1) * n]


@torch.no_grad()
def reference_error(model, points):
    u, target = burgers_batch(64, points, torch.Generator().manual_seed(12345))
    full = nn.functional.pad(u, (HALO, HALO))
    return (model(full) - target).square().mean().sqrt().item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--parts", type=int, default=2)
    p.add_argument("--points", type=int, default=256)
    p.add_argument("--batch", type=int, default=12)
    p.add_argument("--steps", type=int, default=180)
    p.add_argument("--check-every", type=int, default=30)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--out", default="out")
    args = p.parse_args()
    dist.init_process_group("gloo")
    layout = Layout.build(args.parts)
    torch.manual_seed(0)
    model = stencil_net()
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    rng = torch.Generator().manual_seed(500 + layout.replica)
    for step in range(1, args.steps + 1):
        u, target = burgers_batch(args.batch, args.points, rng)
        pred = model(pad_with_halo(local_slice(u, layout), layout, HALO))
        loss = (pred - local_slice(target, layout)).square().mean()
        opt.zero_grad()
        loss.backward()
        average_gradients(model, layout)
        opt.step()
        if step % args.check_every == 0:
            mean = loss.detach().clone()
            dist.all_reduce(mean, group=layout.domain)
            if layout.rank == 0:
                err = reference_error(model, args.points)
                os.makedirs(args.out, exist_ok=True)
                torch.save({"step": step, "model": model.state_dict()}, os.path.join(args.out, "latest.pt"))
                print(f"step {step} domain loss {mean.item() / args.parts:.5f} rmse {err:.5f}", flush=True)
            dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
