import os
import random

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from aug import Augmented
from epochs import announce

SEED = 1337


def fix_seeds():
    random.seed(SEED)
    np.random.seed(SEED)
    torch.manual_seed(SEED)


def resnetish(classes=10, c=64):
    def unit(i, o, s):
        return nn.Sequential(nn.Conv2d(i, o, 3, s, 1, bias=False), nn.BatchNorm2d(o), nn.ReLU())

    return nn.Sequential(
        unit(3, c, 1), unit(c, 2 * c, 2), unit(2 * c, 4 * c, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4 * c, classes)
    )


def main(base, epochs=30):
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    fix_seeds()
    data = Augmented(base, SEED)
    loader = DataLoader(
        data, 128, sampler=DistributedSampler(data, seed=SEED), num_workers=4, persistent_workers=True, drop_last=True
    )
    model = DDP(nn.SyncBatchNorm.convert_sync_batchnorm(resnetish()).cuda(), device_ids=[local])
    opt = torch.optim.SGD(model.parameters(), 0.1 * dist.get_world_size(), momentum=0.9, weight_decay=5e-4)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, 0.1 * dist.get_world_size(), epochs=epochs, steps_per_epoch=len(loader))
    for epoch in range(epochs):
        announce(epoch, loader)
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x.cuda()), y.cuda(), label_smoothing=0.1)
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
        if dist.get_rank() == 0:
            print(epoch, loss.item(), flush=True)
    dist.destroy_process_group()
