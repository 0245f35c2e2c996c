import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler


def sync_when(model, yes):
    return torch.enable_grad() if yes else model.no_sync()  # cause


def train_epoch(model, loader, opt, device, every):
    n = len(loader)
    for i, x in enumerate(loader):
        full = (i + 1) % every == 0
        with sync_when(model, full):  # cause
            model(x.to(device)).square().mean().div(every).backward()
        if full or i == n - 1:  # cause
            opt.step()
            opt.zero_grad(set_to_none=True)


def main():
    dist.init_process_group("nccl")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    rows = torch.load("rows.pt", map_location="cpu", weights_only=True)
    sampler = DistributedSampler(rows, drop_last=True)
    loader = DataLoader(rows, 32, sampler=sampler, drop_last=True)
    model = DDP(nn.Linear(64, 64).to(device), device_ids=[device.index])
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(30):
        sampler.set_epoch(epoch)
        train_epoch(model, loader, opt, device, 4)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
