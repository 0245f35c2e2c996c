"""Physics-informed network for transport with decay on a periodic pipe."""
import argparse

import torch
from torch import nn

from physics import exact, initial, residual


class PINN(nn.Module):
    def __init__(self, width=48, depth=3):
        super().__init__()
        layers, size = [], 2
        for _ in range(depth):
            layers += [nn.Linear(size, width), nn.Tanh()]
            size = width
        self.net = nn.Sequential(*layers, nn.Linear(size, 1))

    def forward(self, xt):
        return self.net(xt)


def sample(count):
    return torch.rand(count, 1), torch.rand(count, 1)


def losses(net, args):
    x, t = sample(args.interior)
    pde = residual(net, x, t).pow(2).mean()
    x0 = torch.rand(args.initial, 1)
    ic = (net(torch.cat([x0, torch.zeros_like(x0)], 1)) - initial(x0)).pow(2).mean()
    tb = torch.rand(args.boundary, 1)
    left = net(torch.cat([torch.zeros_like(tb), tb], 1))
    right = net(torch.cat([torch.ones_like(tb), tb], 1))
    bc = (left - right).pow(2).mean()
    return pde, ic, bc


@torch.no_grad()
def relative_error(net, n=64):
    x, t = torch.meshgrid(torch.linspace(0, 1, n), torch.linspace(0, 1, n), indexing="ij")
    x, t = x.reshape(-1, 1), t.reshape(-1, 1)
    ref = exact(x, t)
    return ((net(torch.cat([x, t], 1)) - ref).norm() / ref.norm()).item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=1200)
    p.add_argument("--interior", type=int, default=256)
    p.add_argument("--initial", type=int, default=64)
    p.add_argument("--boundary", type=int, default=64)
    p.add_argument("--pde-weight", type=float, default=1.0)
    p.add_argument("--lr", type=float, default=2e-3)
    args = p.parse_args()
    torch.manual_seed(0)

    net = PINN()
    optimizer = torch.optim.Adam(net.parameters(), lr=args.lr)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.999)
    for step in range(1, args.steps + 1):
        pde, ic, bc = losses(net, args)
        loss = args.pde_weight * pde + 10 * ic + bc
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        if step % 200 == 0:
            print(f"step {step} loss {loss.item():.4f} ic {ic.item():.5f} bc {bc.item():.5f} "
                  f"rel. error {relative_error(net):.3f}", flush=True)
    torch.save(net.state_dict(), "pinn.pt")


if __name__ == "__main__":
    main()
