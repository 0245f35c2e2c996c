from dataclasses import dataclass
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from data import Data


@dataclass
class Config:
    batch: int = 4
    lr: float = 0.1


class Trainer:
    def __init__(self, cfg):
        self.data = Data(cfg)
        self.model = DDP(torch.nn.Linear(4, 1))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=cfg.lr)

    def fit(self):
        for epoch in range(10):
            for x, y in self.data.train_loader():
                self.optimizer.zero_grad()
                (self.model(x) - y).pow(2).mean().backward()
                self.optimizer.step()


def main():
    dist.init_process_group("gloo")
    Trainer(Config()).fit()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
