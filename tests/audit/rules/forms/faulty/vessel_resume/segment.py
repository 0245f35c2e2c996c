import os
import sys

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from snapshot import Snapshot


class SmallUNet(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.a = nn.Conv2d(1, width, 3, padding=1)
        self.b = nn.Conv2d(width, 2 * width, 3, padding=1, stride=2)
        self.c = nn.ConvTranspose2d(2 * width, width, 2, stride=2)
        self.d = nn.Conv2d(2 * width, 1, 1)

    def forward(self, x):
        skip = F.relu(self.a(x))
        up = F.relu(self.c(F.relu(self.b(skip))))
        return self.d(torch.cat([skip, up], 1))


def dice(logits, mask):
    p = logits.sigmoid()
    return 1 - (2 * (p * mask).sum() + 1) / (p.sum() + mask.sum() + 1)


def main(volume, out):
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    blob = torch.load(volume, map_location="cpu")
    data = TensorDataset(blob["slices"], blob["masks"])
    sampler = DistributedSampler(data)
    loader = DataLoader(data, 12, sampler=sampler, num_workers=2)
    model = DDP(SmallUNet().to(local), device_ids=[local])
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
    sched = torch.optim.lr_scheduler.StepLR(opt, 40, 0.3)
    snap = Snapshot(out)
    start = snap.restore(model, opt, sched)
    for epoch in range(start, 120):
        sampler.set_epoch(epoch)
        for x, m in loader:
            opt.zero_grad()
            dice(model(x.to(local)), m.to(local)).backward()
            opt.step()
        sched.step()
        snap.save(model, opt, sched, epoch)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
