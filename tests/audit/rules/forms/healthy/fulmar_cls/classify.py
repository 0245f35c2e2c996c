import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from session import Session


def loaders(batch):
    blob = torch.load("flowers.pt", map_location="cpu", weights_only=True)
    train = TensorDataset(blob["train_x"], blob["train_y"])
    test = TensorDataset(blob["test_x"], blob["test_y"])
    order = DistributedSampler(train)
    return (
        DataLoader(train, batch, sampler=order, num_workers=3),
        order,
        DataLoader(test, batch, sampler=DistributedSampler(test, shuffle=False), num_workers=1),
    )


@torch.no_grad()
def accuracy(net, loader, device):
    net.eval()
    n = torch.zeros(2, device=device)
    for x, y in loader:
        hit = (net(x.to(device)).argmax(1) == y.to(device)).sum()
        n += torch.stack([hit, torch.tensor(y.numel(), device=device)])
    dist.all_reduce(n)
    net.train()
    return (n[0] / n[1]).item()


def main():
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    torch.manual_seed(10)
    body = [nn.Conv2d(3, 64, 3, 2, 1), nn.GroupNorm(8, 64), nn.ReLU(), nn.Conv2d(64, 256, 3, 2, 1), nn.ReLU()]
    net = nn.Sequential(*body, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(256, 102)).to(device)
    net = DistributedDataParallel(net, device_ids=[device.index])
    opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 60)
    session = Session("runs/fulmar", net, opt, sched).resume()
    train, order, test = loaders(64)
    for epoch in range(session.epoch, 60):
        order.set_epoch(epoch)
        for x, y in train:
            loss = nn.functional.cross_entropy(net(x.to(device)), y.to(device))
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
        sched.step()
        session.store(epoch, accuracy(net, test, device))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
