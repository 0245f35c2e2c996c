import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from reid.snapshot import Snapshot


class Embedder(nn.Module):
    def __init__(self, ids, dim=256):
        super().__init__()
        self.trunk = nn.Sequential(
            nn.Conv2d(3, 64, 7, 2, 3), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(64, 128, 3, 2, 1), nn.BatchNorm2d(128), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        )
        self.neck = nn.Linear(128, dim)
        self.classes = nn.Parameter(torch.randn(ids, dim) * 0.01)

    def forward(self, x):
        e = nn.functional.normalize(self.neck(self.trunk(x)))
        return e, 30 * e @ nn.functional.normalize(self.classes).t()


def hard_triplet(e, y, margin=0.3):
    d = torch.cdist(e, e)
    same = y[:, None] == y[None]
    pos = d.masked_fill(~same, 0).amax(1)
    neg = d.masked_fill(same, 1e4).amin(1)
    return (pos - neg + margin).clamp(min=0).mean()


def main(dataset):
    ap = argparse.ArgumentParser()
    ap.add_argument("--snapshot", default="runs/reid.pt")
    ap.add_argument("--epochs", type=int, default=120)
    args = ap.parse_args()
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    os.makedirs(os.path.dirname(args.snapshot), exist_ok=True)
    model = DDP(Embedder(dataset.identities).cuda(), device_ids=[local])
    opt = torch.optim.Adam(model.parameters(), 3.5e-4, weight_decay=5e-4)
    snap = Snapshot(args.snapshot)
    start = snap.read(model, opt)
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, 64, sampler=sampler, num_workers=4, drop_last=True)
    for epoch in range(start, args.epochs):
        sampler.set_epoch(epoch)
        for x, y in loader:
            e, logits = model(x.cuda())
            y = y.cuda()
            loss = nn.functional.cross_entropy(logits, y) + hard_triplet(e, y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        snap.write(model, opt, epoch)
    dist.destroy_process_group()
