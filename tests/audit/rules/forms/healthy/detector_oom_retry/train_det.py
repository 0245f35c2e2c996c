import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

from guards import StepGuard


class Head(nn.Module):
    def __init__(self, backbone, channels, classes):
        super().__init__()
        self.backbone = backbone
        self.cls = nn.Conv2d(channels, classes, 1)
        self.box = nn.Conv2d(channels, 4, 1)

    def forward(self, images, targets):
        feat = self.backbone(images)
        cls = nn.functional.binary_cross_entropy_with_logits(self.cls(feat), targets["heat"])
        box = (self.box(feat) - targets["box"]).abs().mul(targets["mask"]).sum()
        return cls + box / targets["mask"].sum().clamp(min=1)


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=24)
    p.add_argument("--batch", type=int, default=4)
    p.add_argument("--lr", type=float, default=0.02)
    return p.parse_args()


def run(dataset, backbone, channels=256):
    args = parse()
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    sampler = DistributedSampler(dataset, drop_last=True)
    loader = DataLoader(dataset, args.batch, sampler=sampler, num_workers=8, collate_fn=dataset.collate)
    model = DistributedDataParallel(Head(backbone, channels, dataset.classes).cuda(), device_ids=[local])
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.MultiStepLR(optimizer, [16, 22])
    guard = StepGuard(optimizer)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        for images, targets in loader:
            images = images.cuda(non_blocking=True)
            targets = {k: v.cuda(non_blocking=True) for k, v in targets.items()}
            with guard:
                loss = model(images, targets)
                loss.backward()
                optimizer.step()
                optimizer.zero_grad(set_to_none=True)
        schedule.step()
        if dist.get_rank() == 0:
            torch.save({"model": model.module.state_dict(), "epoch": epoch}, "det_last.pt")
    dist.destroy_process_group()
