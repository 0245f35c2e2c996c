import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from losses import PairLoss


class TwoViews(Dataset):
    def __init__(self, path):
        self.x = torch.load(path, map_location="cpu", weights_only=True)

    def __len__(self):
        return len(self.x)

    def view(self, x):
        x = x + 0.05 * torch.randn_like(x)
        return x.flip(-1) if torch.rand(()) < 0.5 else x

    def __getitem__(self, i):
        return self.view(self.x[i]), self.view(self.x[i])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(
            nn.Conv2d(3, 64, 7, 2, 3), nn.GroupNorm(8, 64), nn.ReLU(),
            nn.Conv2d(64, 128, 3, 2, 1), nn.GroupNorm(8, 128), nn.ReLU(),
            nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, 128),
        )
        self.criterion = PairLoss()

    def forward(self, a, b):
        n = a.size(0)
        z = self.trunk(torch.cat([a, b]))
        return self.criterion(z[:n], z[n:])


def main():
    gpu = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(gpu)
    dist.init_process_group("nccl")
    torch.manual_seed(0)
    net = DistributedDataParallel(Net().cuda(gpu), device_ids=[gpu], find_unused_parameters=True)
    torch.manual_seed(100 + dist.get_rank())
    ds = TwoViews("crops.pt")
    order = DistributedSampler(ds, drop_last=True)
    loader = DataLoader(ds, 64, sampler=order, drop_last=True, num_workers=4, pin_memory=True)
    opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
    for epoch in range(100):
        order.set_epoch(epoch)
        for a, b in loader:
            loss = net(a.cuda(gpu, non_blocking=True), b.cuda(gpu, non_blocking=True))
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
        if dist.get_rank() == 0:
            torch.save(net.module.trunk.state_dict(), "trunk.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
