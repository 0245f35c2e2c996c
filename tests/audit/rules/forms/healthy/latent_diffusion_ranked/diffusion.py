import argparse
import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

from noise import NoiseSource


class Denoiser(nn.Module):
    def __init__(self, dim=1024, width=2048):
        super().__init__()
        self.time = nn.Embedding(1000, width)
        self.inp = nn.Linear(dim, width)
        self.body = nn.Sequential(nn.SiLU(), nn.Linear(width, width), nn.SiLU())
        self.out = nn.Linear(width, dim)

    def forward(self, x, t):
        return self.out(self.body(self.inp(x) + self.time(t)))


class DiffusionTrainer:
    def __init__(self, args):
        self.args = args
        self.rank = dist.get_rank()
        local = int(os.environ["LOCAL_RANK"])
        torch.cuda.set_device(local)
        self.device = torch.device("cuda", local)
        self.noise = NoiseSource(args.seed + 1 + self.rank, self.device)
        betas = torch.linspace(1e-4, 2e-2, 1000, device=self.device)
        self.alpha_bar = torch.cumprod(1 - betas, 0)
        latents = torch.load(args.latents, map_location="cpu", weights_only=True)
        data = TensorDataset(latents)
        self.sampler = DistributedSampler(data, seed=args.seed, drop_last=True)
        self.loader = DataLoader(data, args.batch_size, sampler=self.sampler, drop_last=True, pin_memory=True)
        self.model = DDP(Denoiser(latents.shape[1]).to(self.device), device_ids=[local])
        self.opt = torch.optim.AdamW(self.model.parameters(), lr=args.lr)

    def loss(self, x0):
        t = self.noise.timesteps(len(x0))
        eps = self.noise.like(x0)
        a = self.alpha_bar[t].unsqueeze(1)
        return F.mse_loss(self.model(a.sqrt() * x0 + (1 - a).sqrt() * eps, t), eps)

    def fit(self):
        for epoch in range(self.args.epochs):
            self.sampler.set_epoch(epoch)
            for (x0,) in self.loader:
                loss = self.loss(x0.to(self.device, non_blocking=True))
                self.opt.zero_grad(set_to_none=True)
                loss.backward()
                self.opt.step()
            if self.rank == 0:
                print(epoch, loss.item())


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--latents", required=True)
    p.add_argument("--seed", type=int, default=7)
    p.add_argument("--epochs", type=int, default=200)
    p.add_argument("--batch-size", type=int, default=128)
    p.add_argument("--lr", type=float, default=1e-4)
    dist.init_process_group("nccl")
    DiffusionTrainer(p.parse_args()).fit()
    dist.destroy_process_group()
