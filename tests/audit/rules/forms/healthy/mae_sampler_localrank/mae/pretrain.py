import math

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from mae.data import make_loader
from mae.runtime import Runtime


class MaskedAutoencoder(nn.Module):
    def __init__(self, patch=16, dim=384, depth=8, keep=0.25):
        super().__init__()
        self.patch, self.keep = patch, keep
        self.embed = nn.Linear(3 * patch * patch, dim)
        layer = nn.TransformerEncoderLayer(dim, 6, 4 * dim, batch_first=True, norm_first=True)
        self.enc = nn.TransformerEncoder(layer, depth)
        self.mask = nn.Parameter(torch.zeros(1, 1, dim))
        self.dec = nn.Linear(dim, 3 * patch * patch)

    def forward(self, img):
        target = nn.functional.unfold(img, self.patch, stride=self.patch).transpose(1, 2)
        drop = torch.rand(target.shape[:2], device=img.device) > self.keep
        h = torch.where(drop[..., None], self.mask.to(img.dtype), self.embed(target))
        err = (self.dec(self.enc(h)) - target).pow(2).mean(-1)
        return (err * drop).sum() / drop.sum().clamp(min=1)


def main(dataset, epochs=400, batch=128, base_lr=1.5e-4):
    rt = Runtime.from_env().start()
    torch.manual_seed(42 + rt.rank)
    model = DDP(MaskedAutoencoder().to(rt.device), device_ids=[rt.local])
    lr = base_lr * batch * rt.world / 256
    opt = torch.optim.AdamW(model.parameters(), lr=lr, betas=(0.9, 0.95), weight_decay=0.05)
    loader, sampler = make_loader(dataset, rt, batch)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for g in opt.param_groups:
            g["lr"] = lr * 0.5 * (1 + math.cos(math.pi * epoch / epochs))
        for img in loader:
            loss = model(img.to(rt.device, non_blocking=True))
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
        if rt.chief:
            print(f"{epoch} {loss.item():.4f}")
            torch.save(model.module.state_dict(), "mae.pt")
    dist.destroy_process_group()
