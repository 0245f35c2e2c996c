import argparse
import logging

import torch
import torch.distributed as dist
from torch import nn

from grid import Cart
from halo import HaloExchange

log = logging.getLogger("solver")


class Corrector(nn.Module):
    def __init__(self, hidden=12):
        super().__init__()
        self.conv = nn.Conv2d(1, hidden, 3)
        self.out = nn.Conv2d(hidden, 1, 1)

    def forward(self, padded):
        return self.out(torch.tanh(self.conv(padded)))


def average(model):
    for p in model.parameters():
        dist.all_reduce(p.grad)
        p.grad /= dist.get_world_size()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--columns", type=int, default=1)
    ap.add_argument("--warm-columns", type=int, default=4)
    ap.add_argument("--cells", type=int, default=32)
    ap.add_argument("--warm-steps", type=int, default=40)
    ap.add_argument("--steps", type=int, default=120)
    args = ap.parse_args()
    dist.init_process_group("gloo")
    logging.basicConfig(level=logging.INFO, format=f"[r{dist.get_rank()}] %(message)s")
    torch.manual_seed(5)
    model = Corrector()
    opt = torch.optim.Adam(model.parameters(), 2e-3)
    phases = [("strips", args.warm_columns, args.warm_steps), ("blocks", args.columns, args.steps)]
    for label, columns, steps in phases:
        cart = Cart.from_world(columns)
        halo = HaloExchange(cart)
        gen = torch.Generator().manual_seed(100 + cart.rank)
        log.info("phase %s: %dx%d, at %s", label, cart.px, cart.py, cart.coords)
        for step in range(steps):
            field = torch.randn(2, 1, args.cells, args.cells, generator=gen)
            target = torch.roll(field, 1, -1) * 0.5
            loss = (model(halo(field)) - target).square().mean()
            opt.zero_grad()
            loss.backward()
            average(model)
            opt.step()
            if step % 20 == 0:
                log.info("%s %d loss %.4f", label, step, loss.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
