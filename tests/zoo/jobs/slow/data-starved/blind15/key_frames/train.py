import argparse
import logging
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import loaders
from reader import KeyFrames

log = logging.getLogger("clips")


def net():
    return nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(),
                         nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(128, 5))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=10)
    p.add_argument("--persistent", action="store_true")
    a = p.parse_args()
    dist.init_process_group("gloo")
    logging.basicConfig(level=logging.INFO if dist.get_rank() == 0 else logging.WARNING, format="%(message)s")
    torch.manual_seed(0)
    extra = {"persistent_workers": True} if a.persistent else {}
    loader = loaders.build(KeyFrames(), loaders.LoaderOptions(), **extra)
    model = DistributedDataParallel(net())
    opt = torch.optim.Adam(model.parameters(), 2e-3)
    for epoch in range(a.epochs):
        loader.sampler.set_epoch(epoch)
        began = time.perf_counter()
        for image, label in loader:
            loss = nn.functional.cross_entropy(model(image), label)
            opt.zero_grad()
            loss.backward()
            opt.step()
        log.info("epoch %d: %d steps in %.2f s, loss %.3f", epoch, len(loader), time.perf_counter() - began, loss.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
