import os
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from wear.export import export
from wear.imputer import Imputer, masked_error
from wear.recordings import DailyRecordings


class Session:
    def __init__(self, cfg):
        self.cfg, self.rank = cfg, dist.get_rank()
        if self.rank == 0 and not os.path.exists(cfg["file"]):
            export(cfg["file"], cfg["export"])
        dist.barrier()
        dataset = DailyRecordings(cfg["file"], cfg["missing"], cfg["seed"])
        self.sampler = DistributedSampler(dataset, seed=cfg["seed"])
        self.loader = DataLoader(dataset, cfg["batch_size"], sampler=self.sampler,
                                 num_workers=cfg["workers"], drop_last=True)
        torch.manual_seed(cfg["seed"])
        self.model = DDP(Imputer(cfg["export"]["channels"], cfg["width"]))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=cfg["lr"])

    def run(self):
        for epoch in range(self.cfg["epochs"]):
            self.sampler.set_epoch(epoch)
            begin = time.monotonic()
            for values, observed, signal in self.loader:
                loss = masked_error(self.model(values, observed), signal, observed)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
            if self.rank == 0:
                took = time.monotonic() - begin
                print(f"epoch {epoch} loss {loss.item():.4f} {took:.1f} s", flush=True)
