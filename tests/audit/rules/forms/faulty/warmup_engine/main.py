import argparse
import contextlib
import os
from dataclasses import dataclass

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

import optim


@dataclass
class Cfg:
    data: str
    epochs: int = 10
    accum: int = 8
    batch_size: int = 16
    lr: float = 1e-3
    weight_decay: float = 0.05
    warmup: float = 0.03


class Engine:
    def __init__(self, cfg, device):
        self.cfg, self.device = cfg, device
        blob = torch.load(cfg.data, map_location="cpu", weights_only=True)
        ds = TensorDataset(blob["ids"], blob["label"])
        self.sampler = DistributedSampler(ds, drop_last=True)
        self.loader = DataLoader(ds, cfg.batch_size, sampler=self.sampler, drop_last=True, pin_memory=True)
        net = nn.Sequential(nn.Embedding(30000, 256), nn.Flatten(), nn.LazyLinear(512), nn.GELU(), nn.Linear(512, 20))
        net(blob["ids"][:2])
        self.model = DDP(net.to(device), device_ids=[device.index])
        self.opt, self.sched = optim.build(self.model, cfg, len(self.loader))

    def epoch(self, n):
        self.sampler.set_epoch(n)
        usable = len(self.loader) - len(self.loader) % self.cfg.accum
        for i, (ids, label) in enumerate(self.loader):
            if i == usable:
                break
            last = (i + 1) % self.cfg.accum == 0
            ids, label = ids.to(self.device), label.to(self.device)
            with contextlib.nullcontext() if last else self.model.no_sync():
                loss = F.cross_entropy(self.model(ids), label) / self.cfg.accum
                loss.backward()
            if last:
                self.opt.step()
                self.opt.zero_grad(set_to_none=True)
            self.sched.step()  # cause


def run():
    ap = argparse.ArgumentParser()
    ap.add_argument("data")
    ap.add_argument("--accum", type=int, default=8)
    ns = ap.parse_args()
    dist.init_process_group("nccl")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    cfg = Cfg(ns.data, accum=ns.accum)
    engine = Engine(cfg, device)
    for n in range(cfg.epochs):
        engine.epoch(n)
    dist.destroy_process_group()


if __name__ == "__main__":
    run()
