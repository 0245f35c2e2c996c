import os
import sys

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from metrics import RunningAccuracy, RunningLoss


def network(classes=5):
    return nn.Sequential(nn.Conv2d(3, 24, 5, 2), nn.ReLU(), nn.Conv2d(24, 48, 3, 2), nn.ReLU(),
                         nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(192, classes))


@torch.inference_mode()
def assess(model, loader, device):
    model.eval()
    acc, loss = RunningAccuracy(device), RunningLoss(device)
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        out = model(x)
        acc.update(out, y)
        loss.update(F.cross_entropy(out, y), len(y))
    model.train()
    return acc.compute(), loss.compute()


def main(path):
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    device = torch.device("cuda", local)
    b = torch.load(path, map_location="cpu")
    train = TensorDataset(b["x"], b["y"])
    held = TensorDataset(b["vx"], b["vy"])
    tl = DataLoader(train, 64, sampler=DistributedSampler(train))
    vl = DataLoader(held, 64, sampler=DistributedSampler(held, shuffle=False))
    model = DDP(network().to(device), device_ids=[local])
    opt = torch.optim.AdamW(model.parameters(), 1e-3)
    for epoch in range(25):
        tl.sampler.set_epoch(epoch)
        for x, y in tl:
            opt.zero_grad()
            F.cross_entropy(model(x.to(device)), y.to(device)).backward()
            opt.step()
        acc, loss = assess(model, vl, device)
        if dist.get_rank() == 0:
            print(f"{epoch} acc={acc:.4f} loss={loss:.4f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1])
