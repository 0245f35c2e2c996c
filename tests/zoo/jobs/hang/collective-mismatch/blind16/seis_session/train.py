import argparse
import json
import logging

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

from session import RunSession
from waveforms import StationArchive


class Picker(nn.Module):
    def __init__(self, width, n=256):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(3, width, 9, padding=4), nn.GELU(),
            nn.Conv1d(width, width, 9, padding=4), nn.GELU(),
            nn.Conv1d(width, 1, 9, padding=4))

    def forward(self, x):
        return self.body(x).squeeze(1)


def run(cfg):
    with RunSession(cfg) as s:
        mine = [st for i, st in enumerate(cfg["stations"]) if i % s.world == s.rank]
        data = StationArchive(mine, cfg["per_station"], cfg["gaps"])
        loader = DataLoader(data, batch_size=cfg["batch"], shuffle=True, drop_last=True,
                            generator=torch.Generator().manual_seed(cfg["seed"]))
        net = DDP(Picker(cfg["width"]))
        opt = torch.optim.AdamW(net.parameters(), lr=cfg["lr"])
        for epoch in range(cfg["epochs"]):
            for it, (x, onset) in enumerate(loader):
                loss = nn.functional.cross_entropy(net(x), onset)
                opt.zero_grad()
                loss.backward()
                opt.step()
                s.count(len(x))
                if s.rank == 0 and it % 10 == 0:
                    logging.info("epoch %d it %d loss %.3f", epoch, it, loss.item())


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--config", default="picker.json")
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    run(json.load(open(ap.parse_args().config)))
