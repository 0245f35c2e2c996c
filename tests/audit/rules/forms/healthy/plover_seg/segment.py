import argparse
import os
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from patience import Patience


class Masks(Dataset):
    def __init__(self, folder):
        self.items = sorted(Path(folder).glob("*.pt"))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        d = torch.load(self.items[i], map_location="cpu", weights_only=True)
        return d["image"].float(), d["mask"].long()


def unet(classes):
    return nn.Sequential(
        nn.Conv2d(3, 48, 3, padding=1), nn.GroupNorm(8, 48), nn.ReLU(),
        nn.Conv2d(48, 48, 3, padding=2, dilation=2), nn.GroupNorm(8, 48), nn.ReLU(),
        nn.Conv2d(48, classes, 1),
    )


def validate(net, loader, loss_fn, device):
    net.eval()
    total, seen = 0.0, 0
    with torch.no_grad():
        for image, mask in loader:
            value = loss_fn(net(image.to(device)), mask.to(device))
            total += value.item() * image.size(0)
            seen += image.size(0)
    net.train()
    sums = torch.tensor([total, float(seen)], device=device, dtype=torch.float64)
    dist.all_reduce(sums)
    return (sums[0] / sums[1].clamp_min(1)).item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--train", default="data/train")
    ap.add_argument("--val", default="data/val")
    ap.add_argument("--epochs", type=int, default=200)
    ap.add_argument("--patience", type=int, default=8)
    args = ap.parse_args()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    torch.manual_seed(11)
    train, val = Masks(args.train), Masks(args.val)
    order = DistributedSampler(train)
    train_loader = DataLoader(train, 8, sampler=order, num_workers=4)
    val_loader = DataLoader(val, 8, sampler=DistributedSampler(val, shuffle=False), num_workers=2)
    net = DistributedDataParallel(unet(21).to(device), device_ids=[device.index])
    opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
    loss_fn = nn.CrossEntropyLoss(ignore_index=255)
    stopper = Patience(limit=args.patience)
    for epoch in range(args.epochs):
        order.set_epoch(epoch)
        for image, mask in train_loader:
            loss = loss_fn(net(image.to(device)), mask.to(device))
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
        current = validate(net, val_loader, loss_fn, device)
        if dist.get_rank() == 0:
            torch.save({"net": net.module.state_dict(), "stop": stopper.state_dict()}, "seg_last.pt")
        if stopper.step(current):
            break
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
