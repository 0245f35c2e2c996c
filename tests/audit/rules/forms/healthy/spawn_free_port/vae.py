import argparse

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from ddp_spawn import launch


class VAE(nn.Module):
    def __init__(self, dim=784, latent=20):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(dim, 400), nn.ReLU(), nn.Linear(400, 2 * latent))
        self.dec = nn.Sequential(nn.Linear(latent, 400), nn.ReLU(), nn.Linear(400, dim))

    def forward(self, x):
        mu, logvar = self.enc(x).chunk(2, 1)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        rec = nn.functional.binary_cross_entropy_with_logits(self.dec(z), x, reduction="none").sum(1)
        kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1)
        return (rec + kl).mean()


def worker(rank, world, opts):
    device = torch.device("cuda", rank) if torch.cuda.is_available() else torch.device("cpu")
    torch.manual_seed(opts.seed + rank)
    images = TensorDataset(torch.load(opts.data, map_location="cpu")["images"].flatten(1))
    sampler = DistributedSampler(images, num_replicas=world, rank=rank)
    loader = DataLoader(images, opts.batch, sampler=sampler)
    model = DDP(VAE().to(device), device_ids=[rank] if device.type == "cuda" else None)
    opt = torch.optim.Adam(model.parameters(), 1e-3)
    for epoch in range(opts.epochs):
        sampler.set_epoch(epoch)
        for (x,) in loader:
            loss = model(x.to(device))
            opt.zero_grad()
            loss.backward()
            opt.step()
        mean = loss.detach().clone()
        dist.all_reduce(mean)
        if rank == 0:
            print(epoch, mean.item() / world)


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--data", default="mnist.pt")
    ap.add_argument("--epochs", type=int, default=5)
    ap.add_argument("--batch", type=int, default=128)
    ap.add_argument("--seed", type=int, default=0)
    ap.add_argument("--nprocs", type=int, default=2)
    o = ap.parse_args()
    launch(worker, o.nprocs, o)
