import argparse
import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

from overlap import ScalarBoard


def mlp(i, o, width=512):
    return nn.Sequential(nn.Linear(i, width), nn.LeakyReLU(0.2), nn.Linear(width, width), nn.LeakyReLU(0.2), nn.Linear(width, o))


class GanTrainer:
    def __init__(self, args):
        self.args = args
        local = int(os.environ["LOCAL_RANK"])
        torch.cuda.set_device(local)
        self.device = torch.device("cuda", local)
        torch.manual_seed(args.seed + dist.get_rank())
        x = torch.load(args.data, map_location="cpu", weights_only=True)
        ds = TensorDataset(x)
        self.sampler = DistributedSampler(ds, drop_last=True)
        self.loader = DataLoader(ds, args.batch_size, sampler=self.sampler, drop_last=True)
        self.gen = DDP(mlp(args.latent, x.shape[1]).to(self.device), device_ids=[local])
        self.dis = DDP(mlp(x.shape[1], 1).to(self.device), device_ids=[local], broadcast_buffers=False)
        self.opt_g = torch.optim.Adam(self.gen.parameters(), lr=args.lr, betas=(0.0, 0.99))
        self.opt_d = torch.optim.Adam(self.dis.parameters(), lr=args.lr, betas=(0.0, 0.99))
        self.board = ScalarBoard(self.device)

    def step(self, real):
        z = torch.randn(len(real), self.args.latent, device=self.device)
        with torch.no_grad():
            fake = self.gen(z)
        self.opt_d.zero_grad(set_to_none=True)
        both = self.dis(torch.cat([real, fake]))
        r, f = both.chunk(2)
        d_loss = F.softplus(-r).mean() + F.softplus(f).mean()
        d_loss.backward()
        self.opt_d.step()
        self.board.put("d", d_loss)
        self.dis.requires_grad_(False)
        self.opt_g.zero_grad(set_to_none=True)
        g_loss = F.softplus(-self.dis.module(self.gen(z))).mean()
        g_loss.backward()
        self.opt_g.step()
        self.dis.requires_grad_(True)
        self.board.put("g", g_loss)

    def fit(self):
        for epoch in range(self.args.epochs):
            self.sampler.set_epoch(epoch)
            for (real,) in self.loader:
                self.step(real.to(self.device))
                scalars = self.board.drain()
            if dist.get_rank() == 0:
                print(epoch, scalars)


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("data")
    ap.add_argument("--latent", type=int, default=64)
    ap.add_argument("--batch-size", type=int, default=256)
    ap.add_argument("--epochs", type=int, default=100)
    ap.add_argument("--lr", type=float, default=1e-3)
    ap.add_argument("--seed", type=int, default=3)
    dist.init_process_group("nccl")
    GanTrainer(ap.parse_args()).fit()
    dist.destroy_process_group()
