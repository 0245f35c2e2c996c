import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

from probe import largest_batch


class Wide(nn.Module):
    def __init__(self, dim=3072, classes=200):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim, 8192), nn.ReLU(), nn.Linear(8192, 8192), nn.ReLU(), nn.Linear(8192, classes))

    def forward(self, x):
        return self.net(x)


def fake_batch(size, device):
    return torch.randn(size, 3072, device=device), torch.zeros(size, dtype=torch.long, device=device)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("data")
    ap.add_argument("--epochs", type=int, default=30)
    ap.add_argument("--lr-per-1k", type=float, default=0.1)
    args = ap.parse_args()
    dist.init_process_group("nccl")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    net = Wide().to(device)
    batch_size = largest_batch(net, fake_batch, device) // 2
    model = DDP(net, device_ids=[device.index])
    lr = args.lr_per_1k * batch_size * dist.get_world_size() / 1024
    opt = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    blob = torch.load(args.data, map_location="cpu", weights_only=True)
    ds = TensorDataset(blob["x"], blob["y"])
    sampler = DistributedSampler(ds, drop_last=True)
    loader = DataLoader(ds, batch_size, sampler=sampler, drop_last=True, pin_memory=True)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x.to(device, non_blocking=True)), y.to(device, non_blocking=True))
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
        if dist.get_rank() == 0:
            print(epoch, batch_size, loss.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
