import os
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from spec.dataset import Spectrograms
from spec.reproducible import WorkerSeeder, seed_process


def cnn(classes):
    def stage(i, o):
        return [nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(), nn.MaxPool2d(2)]

    return nn.Sequential(*stage(1, 32), *stage(32, 64), *stage(64, 128), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, classes))


def main(root, epochs=60, seed=31):
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    seed_process(seed)
    data = Spectrograms(root)
    sampler = DistributedSampler(data, seed=seed)
    loader = DataLoader(data, 64, sampler=sampler, num_workers=8, worker_init_fn=WorkerSeeder(seed), drop_last=True)
    model = DDP(cnn(len(data.index)).cuda(), device_ids=[local])
    opt = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9, nesterov=True)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, epochs)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x.cuda()), y.cuda())
            opt.zero_grad()
            loss.backward()
            opt.step()
        sched.step()
        if dist.get_rank() == 0:
            print(epoch, loss.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1])
