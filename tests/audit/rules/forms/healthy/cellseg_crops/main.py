import os
from dataclasses import dataclass

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from data import train_loader


@dataclass
class Settings:
    root: str = os.environ.get("CELLS", "/data/cells")
    crop: int = 256
    seed: int = 3
    batch: int = 8
    epochs: int = 60


def net():
    chans = [1, 32, 64, 32]
    layers = []
    for a, b in zip(chans, chans[1:]):
        layers += [nn.Conv2d(a, b, 3, padding=1), nn.GroupNorm(8, b), nn.ReLU()]
    return nn.Sequential(*layers, nn.Conv2d(chans[-1], 1, 1))


def main():
    cfg = Settings()
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    loader = train_loader(cfg)
    model = DDP(net().to(local), device_ids=[local])
    opt = torch.optim.SGD(model.parameters(), 0.01, momentum=0.9)
    for epoch in range(cfg.epochs):
        loader.sampler.set_epoch(epoch)
        for img, mask in loader:
            opt.zero_grad()
            F.binary_cross_entropy_with_logits(model(img.to(local)), mask.to(local)).backward()
            opt.step()
    if dist.get_rank() == 0:
        torch.save(model.module.state_dict(), "cellseg.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
