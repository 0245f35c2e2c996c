import argparse
import logging
import resource

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from probes import ActivationProbe
from unet import Noiser, TinyUNet

log = logging.getLogger("ddpm")


def pictures(n=1280, size=24):
    g = torch.Generator().manual_seed(0)
    y, x = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    c = torch.rand(n, 2, 1, 1, generator=g) * 14 + 5
    return ((((x - c[:, 0]) ** 2 + (y - c[:, 1]) ** 2) < 16).float() * 2 - 1)[:, None]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=5)
    p.add_argument("--batch", type=int, default=16)
    p.add_argument("--probe", action=argparse.BooleanOptionalAction, default=True)
    a = p.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(level=logging.INFO if rank == 0 else logging.WARNING, format="%(message)s")
    torch.manual_seed(0)
    data = TensorDataset(pictures())
    sampler = DistributedSampler(data)
    loader = DataLoader(data, a.batch, sampler=sampler)
    model = DistributedDataParallel(TinyUNet())
    opt = torch.optim.Adam(model.parameters(), 2e-3)
    noiser, g = Noiser(), torch.Generator().manual_seed(rank)
    probe = ActivationProbe(model.module, (nn.Conv2d, nn.ConvTranspose2d)) if a.probe else None
    for epoch in range(a.epochs):
        sampler.set_epoch(epoch)
        for (x,) in loader:
            noisy, t, eps = noiser(x, g)
            loss = nn.functional.mse_loss(model(noisy, t), eps)
            opt.zero_grad()
            loss.backward()
            opt.step()
            stats = probe.tick() if probe else None
            if stats:
                log.info("activations %s", {k: f"{m:.2f}±{s:.2f}" for k, (m, s) in stats.items()})
        log.info("epoch %d loss %.3f peak %d MiB", epoch, loss.item(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
