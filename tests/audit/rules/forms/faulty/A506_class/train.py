import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from tracking import Tracker


class Trainer:
    def __init__(self, cfg):
        dist.init_process_group("gloo")
        self.tracker = Tracker(cfg)
        self.model = DDP(torch.nn.Linear(2, 2))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def fit(self):
        for _ in range(10):
            self.optimizer.zero_grad()
            loss = self.model(torch.randn(2, 2)).sum()
            loss.backward()
            self.optimizer.step()
            self.tracker.log({"loss": loss.item()})
        dist.destroy_process_group()


if __name__ == "__main__":
    Trainer({"project": "x"}).fit()
