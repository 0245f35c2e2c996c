import json
import logging
import os
import shutil

import numpy as np
import torch
import torch.distributed as dist
import torch.nn as nn
import yaml
from torch.nn.parallel import DistributedDataParallel as DDP

from extract import extract

log = logging.getLogger("mil")


class AttentionMIL(nn.Module):
    def __init__(self, dim, classes=2):
        super().__init__()
        self.att = nn.Sequential(nn.Linear(dim, 32), nn.Tanh(), nn.Linear(32, 1))
        self.cls = nn.Linear(dim, classes)

    def forward(self, bag):
        w = self.att(bag).softmax(0)
        return self.cls((w * bag).sum(0, keepdim=True))


def bags(index_path):
    with open(index_path) as f:
        index = json.load(f)
    rows = np.memmap(index["path"], dtype=np.float32, mode="r", shape=(index["rows"], index["dim"]))
    for s in index["slides"]:
        yield torch.from_numpy(np.array(rows[s["first"]:s["last"]])), torch.tensor([s["label"]])


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    torch.set_num_threads(1)
    with open("config.yaml") as f:
        cfg = yaml.safe_load(f)
    if rank == 0:
        shutil.rmtree(cfg["cache"], ignore_errors=True)
        os.makedirs(cfg["cache"])
    dist.barrier()
    index = extract(cfg, rank, world)
    dist.barrier()
    model = DDP(AttentionMIL(cfg["dim"]))
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg["train"]["lr"])
    for epoch in range(cfg["train"]["epochs"]):
        total = 0.0
        for bag, label in bags(index):
            loss = nn.functional.cross_entropy(model(bag), label)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        if rank == 0:
            log.info("epoch %d loss %.4f", epoch, total)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
