import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset

from sampling import BalancedShards


class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.f = nn.Sequential(
            nn.Conv2d(1, 32, 5, 2), nn.BatchNorm2d(32), nn.ReLU(),
            nn.Conv2d(32, 64, 5, 2), nn.BatchNorm2d(64), nn.ReLU(),
            nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(256, classes),
        )

    def forward(self, x):
        return self.f(x)


def main():
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    torch.manual_seed(2)
    blob = torch.load("cells.pt", map_location="cpu", weights_only=True)
    ds = TensorDataset(blob["x"], blob["y"])
    loader = DataLoader(ds, 128, sampler=BalancedShards(blob["y"], seed=2), drop_last=True, num_workers=4, pin_memory=True)
    net = nn.SyncBatchNorm.convert_sync_batchnorm(Net(int(blob["y"].max()) + 1))
    net = DistributedDataParallel(net.to(device), device_ids=[device.index])
    opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
    sched = torch.optim.lr_scheduler.MultiStepLR(opt, [15, 25], 0.1)
    for epoch in range(30):
        for x, y in loader:
            loss = nn.functional.cross_entropy(net(x.to(device, non_blocking=True)), y.to(device, non_blocking=True))
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
        sched.step()
        if dist.get_rank() == 0:
            torch.save(net.module.state_dict(), "cells_net.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
