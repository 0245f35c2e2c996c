import argparse

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from env import init_env


def generator(z, out):
    return nn.Sequential(nn.Linear(z, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, out), nn.Tanh())


def critic(inp):
    return nn.Sequential(nn.Linear(inp, 1024), nn.LeakyReLU(0.2), nn.Linear(1024, 1))


class GanTrainer:
    def __init__(self, args, env, n_pix):
        self.z, self.env = args.z, env
        self.g = DDP(generator(args.z, n_pix).to(env.device), device_ids=[env.device.index])
        self.d = DDP(critic(n_pix).to(env.device), device_ids=[env.device.index])
        self.og = torch.optim.Adam(self.g.parameters(), lr=2e-4, betas=(0.5, 0.99))
        self.od = torch.optim.Adam(self.d.parameters(), lr=2e-4, betas=(0.5, 0.99))

    def step(self, real):
        z = torch.randn(len(real), self.z, device=real.device)
        with torch.no_grad():
            fake = self.g(z)
        scores = self.d(torch.cat([real, fake]))
        s_real, s_fake = scores.split(len(real))
        d_loss = F.softplus(-s_real).mean() + F.softplus(s_fake).mean()
        self.od.zero_grad()
        d_loss.backward()
        self.od.step()
        self.d.requires_grad_(False)
        g_loss = F.softplus(-self.d.module(self.g(z))).mean()
        self.og.zero_grad()
        g_loss.backward()
        self.og.step()
        self.d.requires_grad_(True)
        return d_loss.detach(), g_loss.detach()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--images", required=True)
    ap.add_argument("--z", type=int, default=128)
    ap.add_argument("--epochs", type=int, default=100)
    args = ap.parse_args()
    env = init_env()
    x = torch.load(args.images, map_location="cpu").flatten(1)
    ds = TensorDataset(x)
    sampler = DistributedSampler(ds, env.world_size, env.rank, drop_last=True)
    loader = DataLoader(ds, 64, sampler=sampler, drop_last=True, num_workers=2)
    trainer = GanTrainer(args, env, x.size(1))
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        for (real,) in loader:
            d, g = trainer.step(real.to(env.device))
        if env.main:
            print(f"{epoch} d {d.item():.3f} g {g.item():.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
