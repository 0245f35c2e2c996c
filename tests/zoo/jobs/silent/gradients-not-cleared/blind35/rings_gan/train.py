import argparse
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from networks import Discriminator, Generator


def gaussians_on_ring(count, modes=8, radius=2.0, std=0.08, seed=0):
    g = torch.Generator().manual_seed(seed)
    angle = torch.randint(0, modes, (count,), generator=g) * (2 * math.pi / modes)
    centers = torch.stack([angle.cos(), angle.sin()], 1) * radius
    return centers + std * torch.randn(count, 2, generator=g)


@torch.no_grad()
def coverage(gen, modes=8, radius=2.0, count=2000):
    gen.eval()
    points = gen(count)
    gen.train()
    angle = torch.arange(modes) * (2 * math.pi / modes)
    centers = torch.stack([angle.cos(), angle.sin()], 1) * radius
    near, which = torch.cdist(points, centers).min(1)
    good = near < 0.3
    return which[good].unique().numel(), good.float().mean().item()


class GANTrainer:
    def __init__(self, args):
        self.args = args
        self.gen, self.disc = Generator(args.latent), Discriminator()
        self.opt_g = torch.optim.Adam(self.gen.parameters(), lr=args.lr, betas=(0.5, 0.999))
        self.opt_d = torch.optim.Adam(self.disc.parameters(), lr=args.lr, betas=(0.5, 0.999))
        self.bce = nn.BCEWithLogitsLoss()
        data = TensorDataset(gaussians_on_ring(args.samples))
        self.loader = DataLoader(data, batch_size=args.batch_size, shuffle=True, drop_last=True)

    def training_step(self, real):
        n = len(real)
        ones, zeros = torch.ones(n), torch.zeros(n)
        self.opt_g.zero_grad()
        self.opt_d.zero_grad()

        fake = self.gen(n)
        loss_g = self.bce(self.disc(fake), ones)
        loss_g.backward()
        self.opt_g.step()

        loss_d = 0.5 * (self.bce(self.disc(real), ones) + self.bce(self.disc(fake.detach()), zeros))
        loss_d.backward()
        self.opt_d.step()
        return loss_g.item(), loss_d.item()

    def fit(self):
        for epoch in range(self.args.epochs):
            g_sum = d_sum = 0.0
            for (real,) in self.loader:
                g, d = self.training_step(real)
                g_sum += g
                d_sum += d
            steps = len(self.loader)
            modes, quality = coverage(self.gen)
            print(f"epoch {epoch:2d} loss_g {g_sum / steps:.3f} loss_d {d_sum / steps:.3f} "
                  f"modes {modes}/8 quality {quality:.2f}", flush=True)
        torch.save({"gen": self.gen.state_dict(), "disc": self.disc.state_dict()}, self.args.out)


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=10)
    p.add_argument("--samples", type=int, default=8192)
    p.add_argument("--batch-size", type=int, default=128)
    p.add_argument("--latent", type=int, default=8)
    p.add_argument("--lr", type=float, default=1e-3)
    p.add_argument("--out", default="gan.pt")
    args = p.parse_args()
    torch.manual_seed(0)
    GANTrainer(args).fit()
