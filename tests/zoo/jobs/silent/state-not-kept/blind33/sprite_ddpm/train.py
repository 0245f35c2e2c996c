import argparse

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from diffusion import Denoiser, NoiseSchedule
from ema import EMAModel


def sprites(n=2048, size=6, seed=0):
    g = torch.Generator().manual_seed(seed)
    shapes = (torch.rand(8, size, size // 2, generator=g) > 0.5).float()
    shapes = torch.cat([shapes, shapes.flip(2)], 2).flatten(1) * 2 - 1
    pick = torch.randint(0, len(shapes), (n,), generator=g)
    return TensorDataset(shapes[pick] + 0.05 * torch.randn(n, size * size, generator=g)), shapes


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=14)
    p.add_argument("--batch-size", type=int, default=32)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--ema-decay", type=float, default=0.995)
    args = p.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    data, shapes = sprites()
    dim = shapes.shape[1]
    model = DDP(Denoiser(dim))
    ema = EMAModel(model.module, decay=args.ema_decay)
    torch.manual_seed(100 + rank)
    schedule = NoiseSchedule()
    sampler = DistributedSampler(data, drop_last=True)
    loader = DataLoader(data, args.batch_size, sampler=sampler, drop_last=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        total = 0.0
        for (x,) in loader:
            t = torch.randint(0, schedule.steps, (len(x),))
            noise = torch.randn_like(x)
            loss = F.mse_loss(model(schedule.add_noise(x, noise, t), t), noise)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            ema.step(model.module)
            total += loss.item()
        if rank == 0:
            print(f"epoch {epoch} loss {total / len(loader):.4f}", flush=True)
    if rank == 0:
        images = schedule.sample(ema.averaged_model, 256, dim, torch.Generator().manual_seed(5))
        print(f"distance of samples to the nearest sprite {torch.cdist(images, shapes).min(1).values.mean():.3f}")
        torch.save({"model": model.module.state_dict(), "ema": ema.state_dict()}, "ddpm.pt")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
