import argparse
import glob
import logging

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

log = logging.getLogger("denoise")


class Unet(nn.Module):
    def __init__(self, side, ch=32):
        super().__init__()
        self.pos = nn.Parameter(torch.zeros(1, ch, side, side))
        self.inp = nn.Conv2d(4, ch, 3, padding=1)
        self.mid = nn.Sequential(nn.SiLU(), nn.Conv2d(ch, ch, 3, padding=1), nn.SiLU())
        self.out = nn.Conv2d(ch, 4, 3, padding=1)

    def forward(self, z, t):
        h = self.inp(z) + self.pos * t.view(-1, 1, 1, 1)
        return self.out(self.mid(h))


class Latents:
    def __init__(self, pattern, rank, world):
        self.files = sorted(glob.glob(pattern))[rank::world]

    def epoch(self, batch):
        for f in self.files:
            z = torch.load(f)["z"]
            yield from z.split(batch)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--latents", required=True)
    ap.add_argument("--epochs", type=int, default=3)
    ap.add_argument("--batch", type=int, default=8)
    a = ap.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    dist.init_process_group("gloo")
    torch.manual_seed(dist.get_rank())
    model = DDP(Unet(16))
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
    data = Latents(f"{a.latents}/z*.pt", dist.get_rank(), dist.get_world_size())
    for epoch in range(a.epochs):
        for z in data.epoch(a.batch):
            t = torch.rand(len(z))
            noise = torch.randn_like(z)
            zt = (1 - t.view(-1, 1, 1, 1)) * z + t.view(-1, 1, 1, 1) * noise
            loss = nn.functional.mse_loss(model(zt, t), noise - z)
            opt.zero_grad()
            loss.backward()
            opt.step()
        if dist.get_rank() == 0:
            log.info("epoch %d flow loss %.4f", epoch, loss.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
