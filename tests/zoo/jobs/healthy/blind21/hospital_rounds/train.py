import gc
import pathlib

import torch
import torch.distributed as dist
import torch.nn.functional as F
import yaml
from torch.utils.data import DataLoader, RandomSampler

from federation.model import RiskModel
from federation.server import Federation
from federation.site import SiteRecords


class Client:
    def __init__(self, cfg, site):
        self.cfg, self.site = cfg, site
        torch.manual_seed(50 + site)
        records = SiteRecords(site, cfg["patients"][site], seed=1)
        sampler = RandomSampler(records, replacement=True, num_samples=cfg["local_steps"] * cfg["batch_size"])
        self.loader = DataLoader(records, batch_size=cfg["batch_size"], sampler=sampler)
        self.test = SiteRecords(site, 400, seed=2)
        self.model = RiskModel()
        self.federation = Federation(self.model, set(cfg["private"]), len(records))

    def local_training(self):
        self.model.train()
        optimizer = torch.optim.SGD(self.model.parameters(), lr=self.cfg["lr"], momentum=0.9)
        for x, y in self.loader:
            optimizer.zero_grad()
            F.cross_entropy(self.model(x), y).backward()
            optimizer.step()

    @torch.no_grad()
    def accuracy(self):
        self.model.eval()
        return (self.model(self.test.x).argmax(1) == self.test.y).float().mean().item()

    def run(self):
        self.federation.begin()
        for number in range(self.cfg["rounds"]):
            self.local_training()
            self.federation.aggregate()
            scores = [None] * dist.get_world_size()
            dist.all_gather_object(scores, self.accuracy())
            if self.site == 0:
                print(f"round {number} accuracy by site {[round(s, 3) for s in scores]}", flush=True)


def main():
    cfg = yaml.safe_load(pathlib.Path(__file__).with_name("config.yaml").read_text())
    dist.init_process_group("gloo")
    Client(cfg, dist.get_rank()).run()
    gc.collect()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
