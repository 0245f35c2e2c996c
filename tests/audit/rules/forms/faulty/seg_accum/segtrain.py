import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

from accum import Accumulator


class Unetish(nn.Module):
    def __init__(self, width=32, classes=19):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(3, width, 3, padding=1), nn.GroupNorm(8, width), nn.ReLU(), nn.MaxPool2d(2))
        self.mid = nn.Sequential(nn.Conv2d(width, 2 * width, 3, padding=1), nn.ReLU())
        self.up = nn.ConvTranspose2d(2 * width, width, 2, stride=2)
        self.out = nn.Conv2d(width, classes, 1)

    def forward(self, x):
        return self.out(torch.relu(self.up(self.mid(self.down(x)))))


class SegTrainer:
    def __init__(self, args):
        self.args = args
        local = int(os.environ["LOCAL_RANK"])
        self.device = torch.device("cuda", local)
        torch.cuda.set_device(self.device)
        blob = torch.load(args.data, map_location="cpu", weights_only=True)
        ds = TensorDataset(blob["image"], blob["mask"])
        self.sampler = DistributedSampler(ds, drop_last=True)
        self.loader = DataLoader(ds, args.batch_size, sampler=self.sampler, num_workers=4, drop_last=True)
        self.model = DistributedDataParallel(Unetish().to(self.device), device_ids=[local])
        self.opt = torch.optim.SGD(self.model.parameters(), lr=args.lr, momentum=0.9, weight_decay=1e-4)
        self.loss = nn.CrossEntropyLoss(ignore_index=255)

    def epoch(self, n):
        self.sampler.set_epoch(n)
        self.model.train()
        acc = Accumulator(self.args.accum, len(self.loader))
        for i, (image, mask) in enumerate(self.loader):
            image = image.to(self.device, non_blocking=True)
            mask = mask.to(self.device, non_blocking=True)
            with acc.scope(self.model, i):  # cause
                loss = self.loss(self.model(image), mask) / acc.divisor(i)
                loss.backward()
            if acc.should_step(i):  # cause
                nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
                self.opt.step()
                self.opt.zero_grad(set_to_none=True)


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--data", required=True)
    ap.add_argument("--epochs", type=int, default=60)
    ap.add_argument("--batch-size", type=int, default=4)
    ap.add_argument("--accum", type=int, default=8)
    ap.add_argument("--lr", type=float, default=0.02)
    ns = ap.parse_args()
    dist.init_process_group("nccl")
    trainer = SegTrainer(ns)
    for e in range(ns.epochs):
        trainer.epoch(e)
    dist.destroy_process_group()
