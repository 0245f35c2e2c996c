import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def net(inp, out, width=48):
    return nn.Sequential(nn.Linear(inp, width), nn.LeakyReLU(0.2), nn.Linear(width, width), nn.LeakyReLU(0.2),
                         nn.Linear(width, out))


def two_moons(count, seed):
    g = torch.Generator().manual_seed(seed)
    t = torch.rand(count, generator=g) * torch.pi
    side = torch.randint(0, 2, (count,), generator=g)
    x = torch.where(side == 0, t.cos(), 1 - t.cos())
    y = torch.where(side == 0, t.sin(), 0.5 - t.sin())
    return torch.stack([x, y], 1) + 0.05 * torch.randn(count, 2, generator=g)


def penalty(critic, real, fake):
    mix = torch.rand(len(real), 1)
    point = (mix * real + (1 - mix) * fake).requires_grad_(True)
    (grad,) = torch.autograd.grad(critic(point).sum(), point, create_graph=True)
    return ((grad.norm(dim=1) - 1) ** 2).mean()


class WGAN:
    def __init__(self, args):
        self.args = args
        self.gen, self.critic = net(args.latent, 2), net(2, 1)
        self.opt_g = torch.optim.Adam(self.gen.parameters(), lr=args.lr, betas=(0.0, 0.9))
        self.opt_c = torch.optim.Adam(self.critic.parameters(), lr=args.lr, betas=(0.0, 0.9))

    def noise(self, count):
        return torch.randn(count, self.args.latent)

    def critic_step(self, real):
        fake = self.gen(self.noise(len(real))).detach()
        gap = self.critic(real).mean() - self.critic(fake).mean()
        loss = -gap + self.args.gp * penalty(self.critic, real, fake)
        self.opt_c.zero_grad()
        loss.backward()
        self.opt_c.step()
        return gap.item()

    def generator_step(self, count):
        loss = -self.critic(self.gen(self.noise(count))).mean()
        self.opt_g.zero_grad()
        loss.backward()
        self.opt_g.step()
        return loss.item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=8)
    p.add_argument("--batch-size", type=int, default=128)
    p.add_argument("--latent", type=int, default=4)
    p.add_argument("--critic-steps", type=int, default=8)
    p.add_argument("--gp", type=float, default=0.3)
    p.add_argument("--lr", type=float, default=1e-3)
    args = p.parse_args()
    torch.manual_seed(3)
    loader = DataLoader(TensorDataset(two_moons(8192, 0)), args.batch_size, shuffle=True, drop_last=True)
    model = WGAN(args)
    step = 0
    for epoch in range(args.epochs):
        gaps, gen_losses = [], []
        for (real,) in loader:
            gaps.append(model.critic_step(real))
            step += 1
            if step % args.critic_steps == 0:
                gen_losses.append(model.generator_step(len(real)))
        print(f"epoch {epoch} wasserstein gap {sum(gaps) / len(gaps):.4f} "
              f"generator {sum(gen_losses) / len(gen_losses):.4f}", flush=True)
    torch.save({"gen": model.gen.state_dict(), "critic": model.critic.state_dict()}, "wgan.pt")


if __name__ == "__main__":
    main()
