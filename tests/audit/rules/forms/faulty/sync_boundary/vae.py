import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from accum import AccumulationPlan


class VAE(nn.Module):
    def __init__(self, dim=784, latent=32):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(dim, 400), nn.ReLU(), nn.Linear(400, 2 * latent))
        self.dec = nn.Sequential(nn.Linear(latent, 400), nn.ReLU(), nn.Linear(400, dim))

    def forward(self, x):
        mu, logvar = self.enc(x).chunk(2, dim=-1)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        rec = nn.functional.binary_cross_entropy_with_logits(self.dec(z), x, reduction="none").sum(-1)
        kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(-1)
        return (rec + kl).mean()


def run(args, rank, local):
    x = torch.load(args.images, map_location="cpu").flatten(1).float()
    ds = TensorDataset(x)
    sampler = DistributedSampler(ds, shuffle=True, drop_last=True)
    loader = DataLoader(ds, batch_size=args.bs, sampler=sampler, drop_last=True)
    model = DDP(VAE().cuda(local), device_ids=[local])
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    plan = AccumulationPlan(args.accum, len(loader))
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        running = 0.0
        for i, (batch,) in enumerate(loader):
            with plan.context(model, i):  # cause
                loss = model(batch.cuda(local, non_blocking=True))
                plan.scale(loss).backward()
            running += loss.item()
            if plan.boundary(i):
                opt.step()
                opt.zero_grad(set_to_none=True)
        if rank == 0:
            print(f"epoch {epoch} elbo {-running / len(loader):.2f}")
    if rank == 0:
        torch.save(model.module.state_dict(), args.out)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("images")
    ap.add_argument("--out", default="vae.pt")
    ap.add_argument("--bs", type=int, default=64)
    ap.add_argument("--accum", type=int, default=8)
    ap.add_argument("--epochs", type=int, default=50)
    args = ap.parse_args()
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    run(args, dist.get_rank(), local)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
