import dataclasses
import logging

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from feature_store import FeatureStore
from interactions import Interactions

log = logging.getLogger("ranker")


@dataclasses.dataclass
class Stage:
    name: str
    epochs: int
    cache_rows: int
    workers: int


@dataclasses.dataclass
class Config:
    users: int = 500
    items: int = 800
    dim: int = 32
    batch: int = 64
    samples: int = 4096
    stages: tuple = (Stage("warm", 2, 0, 0), Stage("main", 3, 256, 2))


class TwoTower(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.user = nn.Embedding(cfg.users, cfg.dim)
        self.item = nn.Sequential(nn.Linear(cfg.dim, cfg.dim), nn.ReLU(), nn.Linear(cfg.dim, cfg.dim))

    def forward(self, u, x):
        return (self.user(u) * self.item(x)).sum(-1)


class Worker:
    def __init__(self, cfg):
        self.cfg = cfg
        torch.manual_seed(0)
        self.model = DDP(TwoTower(cfg))
        self.opt = torch.optim.Adagrad(self.model.parameters(), lr=0.05)

    def stage(self, st):
        data = Interactions(FeatureStore(self.cfg.items, self.cfg.dim, st.cache_rows), self.cfg.samples, self.cfg.users)
        sampler = DistributedSampler(data)
        kw = dict(multiprocessing_context="spawn", persistent_workers=True) if st.workers else {}
        loader = DataLoader(data, self.cfg.batch, sampler=sampler, num_workers=st.workers, **kw)
        for epoch in range(st.epochs):
            sampler.set_epoch(epoch)
            for u, x, y in loader:
                loss = nn.functional.binary_cross_entropy_with_logits(self.model(u, x), y)
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
            if dist.get_rank() == 0:
                log.info("%s/%d bce %.4f", st.name, epoch, loss.item())


def entry(rank, world, init, cfg):
    logging.basicConfig(level=logging.INFO)
    dist.init_process_group("gloo", init_method=init, rank=rank, world_size=world)
    w = Worker(cfg)
    for st in cfg.stages:
        w.stage(st)
    dist.destroy_process_group()
