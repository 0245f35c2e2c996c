import os
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from selection import BestModel


def split(blob, name, shuffle):
    data = TensorDataset(blob[name]["x"], blob[name]["y"])
    return DataLoader(data, 128, sampler=DistributedSampler(data, shuffle=shuffle))


@torch.no_grad()
def score(model, loader, device):
    model.eval()
    acc = torch.zeros(2, device=device)
    for x, y in loader:
        err = (model(x.to(device)).squeeze(-1) - y.to(device)).square()
        acc += torch.stack([err.sum(), torch.tensor(float(len(y)), device=device)])
    dist.all_reduce(acc)
    model.train()
    return (acc[0] / acc[1]).item()


def cycle(model, opt, loader, device):
    for x, y in loader:
        opt.zero_grad()
        (model(x.to(device)).squeeze(-1) - y.to(device)).square().mean().backward()
        opt.step()


def main(path, out):
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    blob = torch.load(path, map_location="cpu")
    train, val, test = (split(blob, n, n == "train") for n in ("train", "val", "test"))
    dim = blob["train"]["x"].shape[1]
    model = DDP(nn.Sequential(nn.Linear(dim, 256), nn.Tanh(), nn.Linear(256, 1)).to(local), device_ids=[local])
    best = BestModel(out)
    for stage, lr in enumerate((1e-3, 3e-4, 1e-4)):
        opt = torch.optim.Adam(model.parameters(), lr=lr)
        for epoch in range(15):
            train.sampler.set_epoch(stage * 15 + epoch)
            cycle(model, opt, train, local)
            best.offer(score(model, val, local), model)
        best.reload(model)  # cause
    final = score(model, test, local)
    if dist.get_rank() == 0:
        print("test mse", final)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
