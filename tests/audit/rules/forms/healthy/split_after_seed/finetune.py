import argparse
import os
import random
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset, DistributedSampler


def seed_all(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


class Patches(Dataset):
    def __init__(self, root, ids):
        self.root, self.ids = Path(root), ids

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        z = np.load(self.root / f"{self.ids[i]}.npz")
        x = torch.from_numpy(z["img"]).float()
        if torch.rand(()) < 0.5:
            x = x.flip(-1)
        return x, int(z["label"])


def split_ids(root, holdout, seed):
    ids = sorted(p.stem for p in Path(root).glob("*.npz"))
    random.Random(seed).shuffle(ids)
    cut = int(len(ids) * holdout)
    return ids[cut:], ids[:cut]


def make_loader(ds, bs, train):
    sampler = DistributedSampler(ds, shuffle=train, drop_last=train)
    return DataLoader(ds, batch_size=bs, sampler=sampler, num_workers=2)


@torch.no_grad()
def validate(model, loader, dev):
    model.eval()
    hit = torch.zeros(2, device=dev, dtype=torch.float64)
    for x, y in loader:
        pred = model(x.to(dev)).argmax(1).cpu()
        hit += torch.tensor([(pred == y).sum().item(), y.numel()], device=dev)
    dist.all_reduce(hit)
    model.train()
    return (hit[0] / hit[1]).item()


def main(args):
    local = int(os.environ["LOCAL_RANK"])
    dev = torch.device("cuda", local)
    torch.cuda.set_device(dev)
    dist.init_process_group("nccl")
    seed_all(args.seed + dist.get_rank())

    train_ids, val_ids = split_ids(args.root, args.holdout, args.seed)
    train = make_loader(Patches(args.root, train_ids), args.bs, True)
    val = make_loader(Patches(args.root, val_ids), args.bs, False)

    net = nn.Sequential(nn.Conv2d(3, 32, 3, 2), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10))
    model = DDP(net.to(dev), device_ids=[local])
    opt = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    for epoch in range(args.epochs):
        train.sampler.set_epoch(epoch)
        for x, y in train:
            loss = nn.functional.cross_entropy(model(x.to(dev)), y.to(dev))
            opt.zero_grad()
            loss.backward()
            opt.step()
        acc = validate(model, val, dev)
        if dist.get_rank() == 0:
            print(f"{epoch}: val acc {acc:.4f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("root")
    ap.add_argument("--holdout", type=float, default=0.1)
    ap.add_argument("--bs", type=int, default=64)
    ap.add_argument("--lr", type=float, default=0.05)
    ap.add_argument("--epochs", type=int, default=20)
    ap.add_argument("--seed", type=int, default=1337)
    main(ap.parse_args())
