import os
from dataclasses import dataclass

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

from callbacks import Patience


@dataclass
class Config:
    epochs: int = 60
    batch: int = 128
    lr: float = 1e-3
    classes: int = 35
    root: str = "hey_snips"


def build_model(cfg):
    return nn.Sequential(
        nn.Conv2d(1, 32, 5, stride=2), nn.BatchNorm2d(32), nn.ReLU(),
        nn.Conv2d(32, 64, 3, stride=2), nn.BatchNorm2d(64), nn.ReLU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, cfg.classes),
    )


def split(cfg, part):
    x, y = torch.load(os.path.join(cfg.root, part + ".pt"), map_location="cpu")
    return TensorDataset(x, y)


def loaders(cfg):
    train, valid = split(cfg, "train"), split(cfg, "valid")
    train_sampler = DistributedSampler(train)
    valid_sampler = DistributedSampler(valid, shuffle=False)
    return (
        DataLoader(train, cfg.batch, sampler=train_sampler, num_workers=2),
        DataLoader(valid, cfg.batch, sampler=valid_sampler, num_workers=2),
        train_sampler,
    )


@torch.no_grad()
def accuracy(model, loader, device):
    model.eval()
    hits = torch.zeros(2, device=device)
    for x, y in loader:
        pred = model(x.to(device)).argmax(1)
        hits += torch.stack([(pred == y.to(device)).sum(), torch.tensor(len(y), device=device)])
    dist.all_reduce(hits)
    return (hits[0] / hits[1]).item()


def train_epoch(model, loader, optimizer, device):
    model.train()
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x.to(device)), y.to(device)).backward()
        optimizer.step()


def main(cfg):
    gpu = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(gpu)
    dist.init_process_group("nccl")
    device = torch.device("cuda", gpu)
    torch.manual_seed(0)
    train_loader, valid_loader, sampler = loaders(cfg)
    net = nn.SyncBatchNorm.convert_sync_batchnorm(build_model(cfg)).to(device)
    model = DistributedDataParallel(net, device_ids=[gpu])
    optimizer = torch.optim.SGD(model.parameters(), lr=cfg.lr, momentum=0.9)
    patience = Patience()
    for epoch in range(cfg.epochs):
        sampler.set_epoch(epoch)
        train_epoch(model, train_loader, optimizer, device)
        score = accuracy(model, valid_loader, device)
        patience.after_validation(score)
        if dist.get_rank() == 0:
            print(epoch, score)
        if patience.exhausted:
            break
    dist.destroy_process_group()


if __name__ == "__main__":
    main(Config())
