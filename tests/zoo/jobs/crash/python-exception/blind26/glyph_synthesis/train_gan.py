import argparse
import os
from datetime import timedelta

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from nets import Critic, Generator


def glyphs(count, side=12):
    gen = torch.Generator().manual_seed(1)
    yy, xx = torch.meshgrid(torch.linspace(-1, 1, side), torch.linspace(-1, 1, side), indexing="ij")
    radius = torch.rand(count, 1, 1, generator=gen) * 0.6 + 0.2
    ring = torch.exp(-((xx**2 + yy**2).sqrt() - radius) ** 2 * 30)
    return (ring * 2 - 1).unsqueeze(1)


class AdversarialTrainer:
    def __init__(self, opt):
        self.opt = opt
        self.rank = dist.get_rank()
        self.G = DDP(Generator(opt.z_dim))
        self.D = DDP(Critic())
        self.opt_g = torch.optim.Adam(self.G.parameters(), lr=opt.lr, betas=(0.5, 0.999))
        self.opt_d = torch.optim.Adam(self.D.parameters(), lr=opt.lr * 2, betas=(0.5, 0.999))
        data = TensorDataset(glyphs(opt.images))
        self.sampler = DistributedSampler(data)
        self.loader = DataLoader(data, opt.batch_size, sampler=self.sampler, drop_last=True)

    def step(self, real):
        z = torch.randn(real.size(0), self.opt.z_dim)
        fake = self.G(z)
        batch = torch.cat([real, fake])
        scores = self.D(batch)
        s_real, s_fake = scores.chunk(2)

        loss_d = F.softplus(-s_real).mean() + F.softplus(s_fake).mean()
        self.opt_d.zero_grad()
        loss_d.backward(retain_graph=True)
        self.opt_d.step()

        loss_g = F.softplus(-s_fake).mean()
        self.opt_g.zero_grad()
        loss_g.backward()
        self.opt_g.step()
        return loss_d.item(), loss_g.item()

    def fit(self):
        for epoch in range(self.opt.epochs):
            self.sampler.set_epoch(epoch)
            for it, (real,) in enumerate(self.loader):
                d, g = self.step(real)
                if self.rank == 0 and it % self.opt.log_every == 0:
                    print(f"[{epoch}:{it}] D {d:.3f} G {g:.3f}", flush=True)
            if self.rank == 0:
                torch.save({"G": self.G.module.state_dict()}, os.path.join(self.opt.out, "last.pth"))


def options():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=3)
    p.add_argument("--images", type=int, default=256)
    p.add_argument("--batch-size", type=int, default=16)
    p.add_argument("--z-dim", type=int, default=16)
    p.add_argument("--lr", type=float, default=2e-4)
    p.add_argument("--log-every", type=int, default=4)
    p.add_argument("--out", default="gan_out")
    return p.parse_args()


if __name__ == "__main__":
    opt = options()
    os.makedirs(opt.out, exist_ok=True)
    dist.init_process_group("gloo", timeout=timedelta(seconds=60))
    torch.manual_seed(100 + dist.get_rank())
    AdversarialTrainer(opt).fit()
    dist.destroy_process_group()
