"""Sketch to photo, adversarial with an L1 term (after pix2pix)."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)


def pairs(n, seed):
    g = torch.Generator().manual_seed(seed)
    shapes = (torch.rand(n, 1, 16, 16, generator=g) > 0.8).float()
    smooth = F.avg_pool2d(shapes, 5, 1, 2) * 3
    photo = torch.tanh(smooth + 0.35 * torch.randn(n, 1, 16, 16, generator=g) * (smooth > 0.6))
    return TensorDataset(shapes, photo)


class Generator(nn.Module):
    def __init__(self, c=16):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(2, c, 3, padding=1), nn.ReLU(), nn.Conv2d(c, c, 3, padding=1), nn.ReLU(),
                                 nn.Conv2d(c, 1, 3, padding=1), nn.Tanh())

    def forward(self, sketch):
        return self.net(torch.cat([sketch, torch.randn_like(sketch)], 1))


class Discriminator(nn.Module):
    def __init__(self, c=16):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(2, c, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(c, c, 4, 2, 1),
                                 nn.LeakyReLU(0.2), nn.Conv2d(c, 1, 3, padding=1))

    def forward(self, sketch, photo):
        return self.net(torch.cat([sketch, photo], 1))


class Pix2Pix:
    def __init__(self, lr, l1):
        self.G, self.D, self.l1 = Generator(), Discriminator(), l1
        self.opt_g = torch.optim.Adam(self.G.parameters(), lr=lr, betas=(0.5, 0.999))
        self.opt_d = torch.optim.Adam(self.D.parameters(), lr=lr, betas=(0.5, 0.999))

    @staticmethod
    def gan_loss(pred, real):
        return F.mse_loss(pred, torch.ones_like(pred) if real else torch.zeros_like(pred))

    def step(self, sketch, photo):
        fake = self.G(sketch)
        d_loss = 0.5 * (self.gan_loss(self.D(sketch, photo), True) + self.gan_loss(self.D(sketch, fake.detach()), False))
        self.opt_d.zero_grad()
        d_loss.backward()
        self.opt_d.step()

        pred_fake = self.D(sketch, fake.detach())
        g_adv = self.gan_loss(pred_fake, True)
        g_l1 = F.l1_loss(fake, photo)
        g_loss = g_adv + self.l1 * g_l1
        self.opt_g.zero_grad()
        g_loss.backward()
        self.opt_g.step()
        return d_loss.item(), g_adv.item(), g_l1.item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=6)
    ap.add_argument("--batch", type=int, default=16)
    ap.add_argument("--lr", type=float, default=5e-4)
    ap.add_argument("--l1", type=float, default=5.0)
    args = ap.parse_args()
    torch.manual_seed(0)
    loader = DataLoader(pairs(800, 0), batch_size=args.batch, shuffle=True)
    model = Pix2Pix(args.lr, args.l1)
    for epoch in range(args.epochs):
        sums = torch.zeros(3)
        for sketch, photo in loader:
            sums += torch.tensor(model.step(sketch, photo))
        d, a, l1 = (sums / len(loader)).tolist()
        print(f"epoch {epoch} D {d:.4f} G_adv {a:.4f} G_L1 {l1:.4f}", flush=True)
    torch.save(model.G.state_dict(), "generator.pt")


if __name__ == "__main__":
    main()
