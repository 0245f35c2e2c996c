import os
from contextlib import contextmanager

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from state import Keeper


@contextmanager
def distributed():
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    try:
        yield torch.cuda.current_device()
    finally:
        dist.destroy_process_group()


class Heatmaps(nn.Module):
    def __init__(self, joints=17, width=64):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, width, 7, 2, 3), nn.GroupNorm(8, width), nn.ReLU(), nn.MaxPool2d(2))
        self.body = nn.Sequential(*[m for _ in range(6) for m in (
            nn.Conv2d(width, width, 3, padding=1), nn.GroupNorm(8, width), nn.ReLU())])
        self.out = nn.Conv2d(width, joints, 1)

    def forward(self, x):
        return self.out(self.body(self.stem(x)))


def main(epochs=140):
    with distributed() as gpu:
        torch.manual_seed(17)
        images, maps = torch.load("coco_pose.pt", map_location="cpu")
        data = TensorDataset(images, maps)
        sampler = DistributedSampler(data)
        loader = DataLoader(data, 32, sampler=sampler, num_workers=4, drop_last=True)
        net = Heatmaps().to(gpu)
        optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
        keeper = Keeper("runs/pose")
        first = keeper.restore(net, optimizer)  # cause
        model = DDP(net, device_ids=[gpu])
        for epoch in range(first, epochs):  # cause
            sampler.set_epoch(epoch)
            for x, y in loader:
                loss = nn.functional.mse_loss(model(x.to(gpu)), y.to(gpu))
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            keeper.save(epoch, net, optimizer)
            if dist.get_rank() == 0:
                print(f"{epoch} {loss.item():.5f}", flush=True)


if __name__ == "__main__":
    main()
