import os
from dataclasses import dataclass

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from tracker import Tracker


@dataclass
class GanConfig:
    name: str = "base"
    z: int = 128
    batch: int = 64
    epochs: int = 40
    lr: float = 2e-4
    data: str = "faces64.pt"


def generator(z):
    return nn.Sequential(
        nn.Linear(z, 256 * 64), nn.Unflatten(1, (256, 8, 8)), nn.ReLU(),
        nn.ConvTranspose2d(256, 128, 4, 2, 1), nn.GroupNorm(8, 128), nn.ReLU(),
        nn.ConvTranspose2d(128, 64, 4, 2, 1), nn.GroupNorm(8, 64), nn.ReLU(),
        nn.ConvTranspose2d(64, 3, 4, 2, 1), nn.Tanh(),
    )


def critic():
    return nn.Sequential(
        nn.Conv2d(3, 64, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(64, 128, 4, 2, 1), nn.LeakyReLU(0.2),
        nn.Conv2d(128, 256, 4, 2, 1), nn.LeakyReLU(0.2), nn.Flatten(), nn.Linear(256 * 64, 1),
    )


def main(cfg=GanConfig()):
    local = int(os.environ["LOCAL_RANK"])
    device = torch.device("cuda", local)
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    torch.manual_seed(6)
    G = DistributedDataParallel(generator(cfg.z).to(device), device_ids=[local])
    D = DistributedDataParallel(critic().to(device), device_ids=[local])
    g_opt = torch.optim.Adam(G.parameters(), cfg.lr, betas=(0.5, 0.99))
    d_opt = torch.optim.Adam(D.parameters(), cfg.lr, betas=(0.5, 0.99))
    ds = TensorDataset(torch.load(cfg.data, map_location="cpu", weights_only=True))
    order = DistributedSampler(ds, drop_last=True)
    loader = DataLoader(ds, cfg.batch, sampler=order, drop_last=True, pin_memory=True)
    torch.manual_seed(60 + dist.get_rank())
    tracker = Tracker(cfg)  # cause
    for epoch in range(cfg.epochs):
        order.set_epoch(epoch)
        for (real,) in loader:
            real = real.to(device, non_blocking=True)
            fake = G(torch.randn(real.size(0), cfg.z, device=device))
            both = D(torch.cat([real, fake.detach()]))
            d_loss = F.softplus(-both[: real.size(0)]).mean() + F.softplus(both[real.size(0) :]).mean()
            d_opt.zero_grad(set_to_none=True)
            d_loss.backward()
            d_opt.step()
            D.requires_grad_(False)
            g_loss = F.softplus(-D.module(fake)).mean()
            g_opt.zero_grad(set_to_none=True)
            g_loss.backward()
            g_opt.step()
            D.requires_grad_(True)
            tracker.scalars(d=d_loss.detach(), g=g_loss.detach(), epoch=epoch)
        if dist.get_rank() == 0:
            torch.save(G.module.state_dict(), f"{cfg.name}.pt")
    tracker.close()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
