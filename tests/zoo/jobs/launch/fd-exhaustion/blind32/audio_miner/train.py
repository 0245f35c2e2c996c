import argparse
import json
import logging

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

from data import make_loader
from miner import HardBatchMiner

log = logging.getLogger("speaker")


class Encoder(nn.Module):
    def __init__(self, speakers):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv1d(1, 16, 15, stride=4), nn.ReLU(), nn.Conv1d(16, 32, 9, stride=4), nn.ReLU(),
                                  nn.AdaptiveAvgPool1d(4), nn.Flatten())
        self.proto = nn.Linear(128, speakers, bias=False)

    def forward(self, wave):
        z = F.normalize(self.conv(wave[:, None]), dim=-1)
        return z @ F.normalize(self.proto.weight, dim=-1).T


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        torch.manual_seed(0)
        self.model = DDP(Encoder(cfg["speakers"]))
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=cfg["lr"])
        self.miner = HardBatchMiner(**cfg["miner"])
        self.loader, self.sampler = make_loader(cfg, self.rank, self.world)
        self.g = torch.Generator().manual_seed(self.rank)

    def loss(self, batch):
        wave = batch["wave"] / batch["gain"]
        logits = self.model(wave)
        target = batch["speaker"]
        logits = logits - self.cfg["margin"] * F.one_hot(target, logits.size(1))
        return F.cross_entropy(16 * logits, target)

    def step(self, batch):
        loss = self.loss(batch)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def fit(self):
        for epoch in range(self.cfg["epochs"]):
            self.sampler.set_epoch(epoch)
            for i, batch in enumerate(self.loader):
                loss = self.step(batch)
                self.miner.observe(batch, loss)
                if i % 4 == 3:
                    again = self.miner.replay(self.g)
                    self.step(again if again is not None else batch)
                if i % 25 == 0 and self.rank == 0:
                    log.info("epoch %d batch %d loss %.3f bank %d", epoch, i, loss, len(self.miner.bank))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--config", default="config.json")
    args = p.parse_args()
    with open(args.config) as f:
        cfg = json.load(f)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    dist.init_process_group("gloo")
    Trainer(cfg).fit()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
