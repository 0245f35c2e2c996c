import os
import shutil
import tempfile

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from datasets import get_dataloader
from prepare import export_line_images


class Autoencoder(nn.Module):

    def __init__(self, channels=8):
        super().__init__()
        self.enc = nn.Sequential(nn.Conv2d(3, channels, 3, 2, 1), nn.ReLU(), nn.Conv2d(channels, channels, 3, 2, 1))
        self.dec = nn.Sequential(
            nn.ConvTranspose2d(channels, channels, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(channels, 3, 4, 2, 1)
        )

    def forward(self, x):
        return self.dec(self.enc(x).relu())


def normalize(image):
    return (image - 0.5) / 0.25


def train_epoch(model, loader, optimizer, epoch):
    total = 0.0
    for batch in loader:
        loss = (model(batch["data"]) - batch["data"]).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    if dist.get_rank() == 0:
        print(f"epoch {epoch} reconstruction {total / len(loader):.4f}", flush=True)


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    root = [tempfile.mkdtemp(prefix="cdo-") if dist.get_rank() == 0 else None]
    dist.broadcast_object_list(root)
    if dist.get_rank() == 0:
        export_line_images(root[0], count=96)
    dist.barrier()
    loader = get_dataloader(root[0], batch_size=8, workers=1, transform=normalize)
    model = DDP(Autoencoder())
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(3):
        train_epoch(model, loader, optimizer, epoch)
    dist.barrier()
    if dist.get_rank() == 0:
        shutil.rmtree(root[0])
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
