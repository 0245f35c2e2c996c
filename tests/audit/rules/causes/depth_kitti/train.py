import argparse

import torch
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler

import dist_utils


class Kitti(Dataset):
    def __init__(self, root, part):
        self.items = torch.load(f"{root}/{part}.index.pt", map_location="cpu")

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        item = torch.load(self.items[i], map_location="cpu")
        return item["rgb"].float() / 255, item["depth"].float()


class UNetSmall(nn.Module):
    def __init__(self, w=32):
        super().__init__()
        self.a = nn.Sequential(nn.Conv2d(3, w, 3, padding=1), nn.GroupNorm(8, w), nn.SiLU())
        self.b = nn.Sequential(nn.Conv2d(w, 2 * w, 3, 2, 1), nn.GroupNorm(8, 2 * w), nn.SiLU())
        self.c = nn.Sequential(nn.Conv2d(2 * w, w, 3, padding=1), nn.SiLU(), nn.Upsample(scale_factor=2))
        self.d = nn.Conv2d(2 * w, 1, 3, padding=1)

    def forward(self, x):
        skip = self.a(x)
        return self.d(torch.cat([skip, self.c(self.b(skip))], 1)).squeeze(1)


def silog(pred, depth):
    mask = depth > 0
    diff = pred[mask].clamp(min=1e-3).log() - depth[mask].log()
    return (diff.pow(2).mean() - 0.85 * diff.mean().pow(2)).clamp(min=1e-8).sqrt()


def main(args):
    rank, world = dist_utils.start()  # cause
    torch.manual_seed(21)
    train = Kitti(args.root, "train")
    sampler = DistributedSampler(train, num_replicas=world, rank=rank)
    loader = DataLoader(train, args.batch, sampler=sampler, num_workers=4, drop_last=True)
    model = UNetSmall().cuda()  # cause
    if world > 1:
        model = DistributedDataParallel(model)  # cause
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        running = 0.0
        for rgb, depth in loader:
            loss = silog(model(rgb.cuda()), depth.cuda())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            running += loss.item()
        shown = dist_utils.mean(running / len(loader))
        if rank == 0:
            print(f"{epoch:3d} silog {shown:.4f}")
    dist_utils.stop()


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--root", default="kitti")
    p.add_argument("--batch", type=int, default=8)
    p.add_argument("--lr", type=float, default=1e-4)
    p.add_argument("--epochs", type=int, default=25)
    main(p.parse_args())
