import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from stats import DeferredStats


class Regressor:
    def __init__(self, n_in, device, lr):
        self.device = device
        net = nn.Sequential(nn.Linear(n_in, 256), nn.SiLU(), nn.Linear(256, 1)).to(device)
        self.model = DDP(net, device_ids=[device.index])
        self.opt = torch.optim.AdamW(self.model.parameters(), lr=lr)
        self.stats = DeferredStats(["mse", "mae"], device)

    def step(self, x, y):
        x, y = x.to(self.device), y.to(self.device)
        err = self.model(x).squeeze(-1) - y
        loss = err.pow(2).mean()
        self.opt.zero_grad(set_to_none=True)
        loss.backward()
        self.opt.step()
        self.stats.add(len(x), mse=loss.item(), mae=err.abs().mean().item())

    def report(self, where):
        done = self.stats.collect()
        if done is not None and dist.get_rank() == 0:
            print(where, {k: round(v, 5) for k, v in done.items()}, flush=True)

    def fit(self, loader, epochs):
        for epoch in range(epochs):
            loader.sampler.set_epoch(epoch)
            for x, y in loader:
                self.step(x, y)
            self.report(f"epoch {epoch - 1}")
            self.stats.launch()
        self.report(f"epoch {epochs - 1}")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("table")
    ap.add_argument("--bs", type=int, default=512)
    ap.add_argument("--lr", type=float, default=1e-3)
    ap.add_argument("--epochs", type=int, default=25)
    a = ap.parse_args()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl")
    blob = torch.load(a.table, map_location="cpu")
    ds = TensorDataset(blob["x"], blob["y"])
    loader = DataLoader(ds, a.bs, sampler=DistributedSampler(ds, drop_last=True))
    Regressor(blob["x"].size(1), device, a.lr).fit(loader, a.epochs)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
