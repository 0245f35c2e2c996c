import logging
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

log = logging.getLogger("loop")


@dataclass
class LoopConfig:
    graph: str
    epochs: int = 200
    hidden: int = 256
    lr: float = 5e-3
    batch: int = 2048


class EdgeScorer(nn.Module):
    def __init__(self, nodes, hidden):
        super().__init__()
        self.emb = nn.Embedding(nodes, hidden)
        self.out = nn.Linear(hidden, 1)

    def forward(self, src, dst):
        return self.out(self.emb(src) * self.emb(dst)).squeeze(-1)


class Loop:
    def __init__(self, cfg, device):
        self.cfg, self.device = cfg, device
        blob = torch.load(cfg.graph, map_location="cpu")
        self.nodes = int(blob["num_nodes"])
        ds = TensorDataset(blob["edges"][0], blob["edges"][1])
        self.sampler = DistributedSampler(ds, drop_last=True)
        self.loader = DataLoader(ds, cfg.batch, sampler=self.sampler, drop_last=True)
        self.model = DistributedDataParallel(EdgeScorer(self.nodes, cfg.hidden).to(device), device_ids=[device.index])
        self.opt = torch.optim.Adam(self.model.parameters(), lr=cfg.lr)

    def loss(self, src, dst):
        fake = torch.randint(self.nodes, dst.shape, device=dst.device)
        s, d = torch.cat([src, src]), torch.cat([dst, fake])
        target = torch.cat([torch.ones(len(src)), torch.zeros(len(src))]).to(self.device)
        return nn.functional.binary_cross_entropy_with_logits(self.model(s, d), target)

    def run(self):
        for epoch in range(self.cfg.epochs):
            self.sampler.set_epoch(epoch)
            for src, dst in self.loader:
                loss = self.loss(src.to(self.device), dst.to(self.device))
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
            if dist.get_rank() == 0:
                log.info("epoch %d loss %.4f", epoch, loss.item())
