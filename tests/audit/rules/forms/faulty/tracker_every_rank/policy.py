import argparse
import os
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from tracker import Tracker


@dataclass
class CloneConfig:
    demos: str
    obs: int = 376
    act: int = 17
    hidden: int = 1024
    bs: int = 1024
    lr: float = 3e-4
    epochs: int = 50
    name: str = "bc"


class Policy(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(cfg.obs, cfg.hidden), nn.SiLU(), nn.Linear(cfg.hidden, cfg.hidden), nn.SiLU())
        self.mu = nn.Linear(cfg.hidden, cfg.act)
        self.log_std = nn.Parameter(torch.zeros(cfg.act))

    def forward(self, obs, act):
        dist_ = torch.distributions.Normal(self.mu(self.net(obs)), self.log_std.exp())
        return -dist_.log_prob(act).sum(-1).mean()


class Cloner:
    def __init__(self, cfg, device):
        self.cfg, self.device = cfg, device
        self.policy = DDP(Policy(cfg).to(device), device_ids=[device.index])
        self.opt = torch.optim.Adam(self.policy.parameters(), lr=cfg.lr)
        self.tracker = Tracker("behaviour-cloning", cfg, cfg.name)  # cause

    def fit(self, loader):
        for epoch in range(self.cfg.epochs):
            loader.sampler.set_epoch(epoch)
            for obs, act in loader:
                loss = self.policy(obs.to(self.device), act.to(self.device))
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
                self.tracker.advance()
            mean = loss.detach().clone()
            dist.all_reduce(mean, op=dist.ReduceOp.AVG)
            self.tracker.log(epoch=epoch, nll=mean.item())
        self.tracker.close()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("demos")
    ap.add_argument("--name", default="bc")
    ap.add_argument("--epochs", type=int, default=50)
    a = ap.parse_args()
    cfg = CloneConfig(demos=a.demos, name=a.name, epochs=a.epochs)
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl")
    blob = torch.load(cfg.demos, map_location="cpu")
    ds = TensorDataset(blob["obs"], blob["act"])
    loader = DataLoader(ds, cfg.bs, sampler=DistributedSampler(ds, drop_last=True), pin_memory=True)
    Cloner(cfg, device).fit(loader)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
