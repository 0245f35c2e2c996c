#!/usr/bin/env python
import click
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from sensors import windows


class AutoEncoder(nn.Module):
    def __init__(self, channels=8, latent=3):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(channels, 16), nn.SiLU(), nn.Linear(16, latent))
        self.decode = nn.Sequential(nn.Linear(latent, 16), nn.SiLU(), nn.Linear(16, channels))

    def forward(self, x):
        return self.decode(self.encode(x))


def gather_losses(losses):
    everyone = [None] * dist.get_world_size()
    dist.all_gather_object(everyone, losses)
    return [loss for part in everyone for loss in part]


@click.command()
@click.option("--epochs", default=2)
@click.option("--batch", default=32)
def main(epochs, batch):
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(1)
    model = DistributedDataParallel(AutoEncoder())
    optim = torch.optim.AdamW(model.parameters(), lr=2e-3)
    x = windows(rank)
    skipped = 0
    for epoch in range(epochs):
        losses = []
        for part in x.split(batch):
            loss = nn.functional.mse_loss(model(part), part)
            bad = (~torch.isfinite(loss)).int()
            dist.all_reduce(bad)
            if bad:
                skipped += 1
                continue
            optim.zero_grad()
            loss.backward()
            optim.step()
            losses.append(loss.item())
        everything = gather_losses(losses)
        if rank == 0:
            click.echo(f"epoch {epoch}: {sum(everything) / len(everything):.4f}, {skipped} skipped")
    dist.barrier()
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()
