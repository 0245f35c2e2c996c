import argparse
import os

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


class Potential(nn.Module):
    def __init__(self, species=10, width=64):
        super().__init__()
        self.emb = nn.Embedding(species, width)
        self.filter = nn.Sequential(nn.Linear(32, width), nn.SiLU(), nn.Linear(width, width))
        self.read = nn.Sequential(nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 1))
        self.register_buffer("centres", torch.linspace(0.5, 6.0, 32))

    def forward(self, z, pos):
        d = torch.cdist(pos, pos)
        basis = torch.exp(-((d[..., None] - self.centres) ** 2) * 4)
        h = self.emb(z)
        h = h + (self.filter(basis) * h[:, None]).sum(2)
        return self.read(h).sum((1, 2))


def load(path):
    raw = np.load(path)
    n = len(raw["E"])
    z = np.broadcast_to(raw["z"], (n, len(raw["z"]))).copy()
    return TensorDataset(*(torch.as_tensor(a) for a in (z, raw["R"].astype("f4"), raw["E"].astype("f4"))))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--data")
    ap.add_argument("--epochs", type=int, default=100)
    args = ap.parse_args()
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)  # cause
    dist.init_process_group("nccl", init_method="env://")
    device = torch.device("cuda", torch.cuda.current_device())
    model = DistributedDataParallel(Potential().to(device), device_ids=[device.index])
    opt = torch.optim.Adam(model.parameters(), 5e-4)
    data = load(args.data)
    sampler = DistributedSampler(data, seed=3)
    loader = DataLoader(data, 32, sampler=sampler, drop_last=True)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        for z, pos, energy in loader:
            loss = (model(z.to(device), pos.to(device)) - energy.to(device)).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        if dist.get_rank() == 0:
            print(f"{epoch} mse {loss.item():.5f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
