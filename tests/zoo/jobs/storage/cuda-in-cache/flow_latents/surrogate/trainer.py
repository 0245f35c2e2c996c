import itertools
import logging
from pathlib import Path

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader

log = logging.getLogger(__name__)


class Trainer:
    def __init__(self, cfg, model, dataset):
        self.cfg = cfg
        self.rank = dist.get_rank()
        self.net = model
        self.model = DistributedDataParallel(model)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=cfg["lr"])
        self.loader = DataLoader(dataset, batch_size=cfg["batch"], shuffle=True)
        self.step = 0
        if cfg.get("resume"):
            self.load(cfg["resume"])

    def load(self, path):
        state = torch.load(path, map_location="cpu")
        self.net.load_state_dict(state["net"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.step = state["step"]
        log.info("resumed at step %d", self.step)

    def save(self, name):
        folder = Path(self.cfg["run_dir"])
        folder.mkdir(parents=True, exist_ok=True)
        torch.save(
            {"net": self.net.state_dict(), "optimizer": self.optimizer.state_dict(), "step": self.step},
            folder / name,
        )

    def run(self):
        batches = itertools.cycle(self.loader)
        while self.step < self.cfg["steps"]:
            z, target = next(batches)
            loss = (self.model(z) - target).square().mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.step += 1
            log.info("step %d loss %.5f", self.step, loss.item())
        if self.rank == 0:
            self.save("final.pt")
