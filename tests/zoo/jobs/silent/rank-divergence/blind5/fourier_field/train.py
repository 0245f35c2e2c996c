import random

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from field import NeuralField, PixelSampler, photograph


def set_random_seed(seed):
    random.seed(seed)
    torch.manual_seed(seed)


@torch.no_grad()
def psnr(model):
    axis = torch.linspace(-1, 1, 24)
    grid = torch.stack(torch.meshgrid(axis, axis, indexing="ij"), -1).view(-1, 2)
    mse = (model(grid) - photograph(grid)).square().mean()
    return -10 * mse.log10().item()


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    set_random_seed(42 + rank)
    pixels = PixelSampler(64, rank, seed=42)
    field = NeuralField()
    model = DDP(field, broadcast_buffers=False, gradient_as_bucket_view=True)
    optimizer = torch.optim.Adam(model.parameters(), lr=8e-3, eps=1e-15)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.97)
    for step in range(60):
        coords, color = pixels.next()
        loss = nn.functional.mse_loss(model(coords), color)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        scheduler.step()
        if rank == 0 and (step + 1) % 15 == 0:
            print(f"step {step + 1}: loss {loss.item():.4f} psnr {psnr(field):.2f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
