import gc
import pathlib

import torch
import torch.distributed as dist
import torch.nn.functional as F
import yaml
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

from lvu.clips import ClipDataset
from lvu.meters import Meters
from lvu.model import ClipModel
from lvu.optim import build_optimizer, build_scheduler


class Run:
    def __init__(self, cfg):
        self.cfg = cfg
        torch.manual_seed(1)
        data = cfg["data"]
        train, test = ClipDataset(**data, seed=1), ClipDataset(**{**data, "clips": 384}, seed=2)
        self.sampler = DistributedSampler(train)
        self.train_loader = DataLoader(train, cfg["batch_size"], sampler=self.sampler, drop_last=True)
        self.test_loader = DataLoader(test, 64, sampler=DistributedSampler(test, shuffle=False))
        self.model = DistributedDataParallel(ClipModel(data["size"], data["frames"], data["classes"], **cfg["model"]))
        self.optimizer = build_optimizer(self.model.module, **cfg["optim"])
        self.scheduler = build_scheduler(self.optimizer, cfg["plateau"])

    def train_epoch(self, epoch):
        self.model.train()
        self.sampler.set_epoch(epoch)
        for x, y in self.train_loader:
            loss = F.cross_entropy(self.model(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

    @torch.no_grad()
    def test_epoch(self):
        self.model.eval()
        meters = Meters()
        for x, y in self.test_loader:
            logits = self.model.module(x)
            meters.update(F.cross_entropy(logits, y), logits, y)
        return meters.compute()

    def fit(self):
        for epoch in range(self.cfg["epochs"]):
            self.train_epoch(epoch)
            metrics = self.test_epoch()
            self.scheduler.step(metrics[self.cfg["monitor"]])
            if dist.get_rank() == 0:
                print(f"epoch {epoch} " + " ".join(f"{k} {v:.4f}" for k, v in metrics.items()), flush=True)


def main():
    cfg = yaml.safe_load(pathlib.Path(__file__).with_name("experiment.yaml").read_text())
    dist.init_process_group("gloo")
    Run(cfg).fit()
    gc.collect()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
