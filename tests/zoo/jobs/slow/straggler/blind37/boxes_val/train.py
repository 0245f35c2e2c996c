import argparse
import os
import time

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

torch.set_num_threads(1)
RANK = int(os.environ.get("RANK", -1))
WORLD_SIZE = int(os.environ.get("WORLD_SIZE", 1))


def boxes(n, seed):
    g = torch.Generator().manual_seed(seed)
    box = torch.rand(n, 2, generator=g) * 12
    yy, xx = torch.meshgrid(torch.arange(16), torch.arange(16), indexing="ij")
    img = torch.exp(-((xx - box[:, :1, None]) ** 2 + (yy - box[:, 1:, None]) ** 2) / 6)
    return TensorDataset((img + 0.2 * torch.randn(n, 16, 16, generator=g)).unsqueeze(1), box / 12)


def build(c=16):
    return nn.Sequential(nn.Conv2d(1, c, 3, 2, 1), nn.ReLU(), nn.Conv2d(c, c, 3, 2, 1), nn.ReLU(), nn.Flatten(),
                         nn.Linear(c * 16, 32), nn.ReLU(), nn.Linear(32, 2))


def nms_like(pred, points=64):
    """Scores of each prediction against all others of its batch, one at a time."""
    kept = []
    for p in pred:
        d = (pred - p).abs().sum(1)
        kept.append((d < 0.05).sum())
    return torch.stack(kept)


@torch.no_grad()
def val_run(model, loader):
    model.eval()
    err = n = crowd = 0
    for img, box in loader:
        pred = model(img)
        err += (pred - box).abs().sum().item()
        crowd += nms_like(pred).sum().item()
        n += len(box)
    return err / n, crowd / n


def train(opt):
    torch.manual_seed(0)
    train_set = boxes(1600, 0)
    sampler = DistributedSampler(train_set, shuffle=True)
    train_loader = DataLoader(train_set, opt.batch_size // WORLD_SIZE, sampler=sampler)
    if RANK in {-1, 0}:
        val_loader = DataLoader(boxes(opt.val_images, 1), opt.batch_size // WORLD_SIZE * 2)
    model = DDP(build())
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(opt.epochs):
        sampler.set_epoch(epoch)
        model.train()
        t0 = time.time()
        for img, box in train_loader:
            loss = nn.functional.smooth_l1_loss(model(img), box)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        t1 = time.time()
        if RANK in {-1, 0}:
            mae, crowd = val_run(model.module, val_loader)
            print(f"epoch {epoch} loss {loss.item():.5f} mae {mae:.4f} crowd {crowd:.2f} "
                  f"(train {t1 - t0:.1f}s val {time.time() - t1:.1f}s)", flush=True)
        dist.barrier()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=7)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--val-images", type=int, default=16000)
    dist.init_process_group("gloo")
    train(parser.parse_args())
    dist.destroy_process_group()
