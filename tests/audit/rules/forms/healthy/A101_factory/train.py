import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from data import DataModule


class App:
    def __init__(self):
        self.setup()
        self.data = DataModule()

    def setup(self):
        dist.init_process_group("gloo")
        self.model = DDP(torch.nn.Linear(4, 1))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def run(self):
        for epoch in range(3):
            if self.data.sampler is not None:
                self.data.sampler.set_epoch(epoch)
            for (x,) in self.data.loader:
                self.optimizer.zero_grad()
                self.model(x).sum().backward()
                self.optimizer.step()
        dist.destroy_process_group()


if __name__ == "__main__":
    App().run()
