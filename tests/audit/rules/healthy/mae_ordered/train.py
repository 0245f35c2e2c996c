import os
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from order import first

PATCH, DIM, SIDE = 8, 256, 64


class MAE(nn.Module):
    def __init__(self, keep=0.25):
        super().__init__()
        self.n, self.keep = (SIDE // PATCH) ** 2, keep
        self.embed = nn.Linear(3 * PATCH * PATCH, DIM)
        self.position = nn.Parameter(torch.randn(self.n, DIM) * 0.02)
        self.mask = nn.Parameter(torch.zeros(DIM))
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(DIM, 8, 4 * DIM, batch_first=True), 8)
        self.decoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(DIM, 8, 2 * DIM, batch_first=True), 2)
        self.out = nn.Linear(DIM, 3 * PATCH * PATCH)

    def patches(self, x):
        x = x.unfold(2, PATCH, PATCH).unfold(3, PATCH, PATCH)
        return x.permute(0, 2, 3, 1, 4, 5).reshape(len(x), self.n, -1)

    def forward(self, x):
        target = self.patches(x)
        order = torch.rand(len(x), self.n, device=x.device).argsort(1)
        kept = order[:, : int(self.n * self.keep)].unsqueeze(-1).expand(-1, -1, DIM)
        tokens = self.embed(target) + self.position
        seen = self.encoder(tokens.gather(1, kept))
        full = (self.mask + self.position).expand(len(x), -1, -1).scatter(1, kept, seen)
        return (self.out(self.decoder(full)) - target).pow(2).mean()


def shrink(source, target):
    images = torch.load(source, map_location="cpu").float() / 255
    small = nn.functional.interpolate(images, (SIDE, SIDE), mode="bilinear", antialias=True)
    torch.save(small, target)


def main():
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl", timeout=timedelta(hours=3))
    torch.manual_seed(0)
    target = Path("cache/small.pt")
    with first():
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shrink("images.pt", target)
    data = TensorDataset(torch.load(target, map_location="cpu"))
    sampler = DistributedSampler(data)
    loader = DataLoader(data, 256, sampler=sampler, num_workers=2, drop_last=True)
    model = DistributedDataParallel(MAE().cuda(), device_ids=[local])
    torch.manual_seed(1 + dist.get_rank())
    optimizer = torch.optim.AdamW(model.parameters(), lr=1.5e-4, betas=(0.9, 0.95))
    for epoch in range(200):
        sampler.set_epoch(epoch)
        for (x,) in loader:
            loss = model(x.cuda())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if dist.get_rank() == 0:
            print(epoch, loss.item(), flush=True)
            torch.save(model.module.encoder.state_dict(), "encoder.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
