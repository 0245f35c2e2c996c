import os
from types import SimpleNamespace

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler
from torchvision import datasets, transforms as T, utils

from nets import Discriminator, Generator


def setup_models(local_rank):
    g, d = Generator().cuda(), Discriminator().cuda()  # cause
    g = DDP(g, device_ids=[local_rank])  # cause
    return SimpleNamespace(
        g=g, d=d,  # cause
        opt_g=torch.optim.Adam(g.parameters(), 2e-4, betas=(0.5, 0.99)),
        opt_d=torch.optim.Adam(d.parameters(), 2e-4, betas=(0.5, 0.99)),
    )


def step_d(m, real, z):
    fake = m.g(z).detach()
    m.opt_d.zero_grad()
    logits = m.d(torch.cat([real, fake]))  # cause
    loss = F.softplus(-logits[: len(real)]).mean() + F.softplus(logits[len(real):]).mean()
    loss.backward()  # cause
    m.opt_d.step()
    return loss


def step_g(m, z):
    m.opt_g.zero_grad()
    for p in m.d.parameters():
        p.requires_grad_(False)
    loss = F.softplus(-m.d(m.g(z))).mean()
    loss.backward()
    for p in m.d.parameters():
        p.requires_grad_(True)
    m.opt_g.step()
    return loss


def main():
    local_rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local_rank)
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    torch.manual_seed(64)
    models = setup_models(local_rank)
    torch.manual_seed(64 + rank)
    tf = T.Compose([T.Resize(64), T.CenterCrop(64), T.ToTensor(), T.Normalize(0.5, 0.5)])
    data = datasets.ImageFolder("anime", tf)
    sampler = DistributedSampler(data)
    loader = DataLoader(data, 64, sampler=sampler, num_workers=4, drop_last=True)
    fixed = torch.randn(64, 128, device="cuda")
    for epoch in range(100):
        sampler.set_epoch(epoch)
        for real, _ in loader:
            real = real.cuda(non_blocking=True)
            d = step_d(models, real, torch.randn(len(real), 128, device="cuda"))
            g = step_g(models, torch.randn(len(real), 128, device="cuda"))
        if rank == 0:
            print(epoch, d.item(), g.item())
            with torch.no_grad():
                utils.save_image(models.g.module(fixed), f"samples-{epoch:03d}.png", normalize=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
