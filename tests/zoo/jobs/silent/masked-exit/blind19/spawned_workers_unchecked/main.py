import argparse

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from launch import launch


class AutoEncoder(nn.Module):
    def __init__(self, size, code):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(size, 128), nn.ReLU(), nn.Linear(128, code))
        self.dec = nn.Sequential(nn.Linear(code, 128), nn.ReLU(), nn.Linear(128, size))

    def forward(self, x):
        return self.dec(self.enc(x))


def load_spectra(n=1500, size=200):
    g = torch.Generator().manual_seed(0)
    centre = torch.rand(n, 1, generator=g)
    axis = torch.linspace(0, 1, size)
    return TensorDataset(torch.exp(-((axis - centre) ** 2) / 0.01) + 0.02 * torch.randn(n, size, generator=g))


def train(rank, world, args):
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    data = load_spectra()
    sampler = DistributedSampler(data)
    loader = DataLoader(data, args.batch, sampler=sampler)
    model = DDP(AutoEncoder(200, args.code))
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        for (x,) in loader:
            loss = nn.functional.mse_loss(model(x), x)
            opt.zero_grad()
            loss.backward()
            opt.step()
        if rank == 0:
            print(f"epoch {epoch} mse {loss.item():.5f}", flush=True)
    if rank == 1:
        export(model.module, "decoder.pt", args.code)
    dist.barrier()
    dist.destroy_process_group()


def export(model, path, code):
    """The web demo only needs the decoder."""
    traced = torch.jit.trace(model.dec, torch.zeros(1, 16))
    traced.save(path)


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=8)
    p.add_argument("--batch", type=int, default=25)
    p.add_argument("--code", type=int, default=12)
    args = p.parse_args()
    launch(train, 2, args)
    print("all workers finished, decoder exported to decoder.pt")
