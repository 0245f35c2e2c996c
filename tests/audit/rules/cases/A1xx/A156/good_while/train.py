import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


class Engine:
    def __init__(self, model, loader, optimizer):
        self.model, self.loader, self.optimizer = model, loader, optimizer
        self.epoch = 0

    def train_epoch(self):
        self.loader.sampler.set_epoch(self.epoch)
        for batch in self.loader:
            self.model(batch).sum().backward()
            self.optimizer.step()
        self.epoch += 1

    def run(self, epochs):
        while self.epoch < epochs:
            self.train_epoch()


def main(dataset):
    dist.init_process_group("gloo")
    model = DistributedDataParallel(torch.nn.Linear(2, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    Engine(model, DataLoader(dataset, sampler=DistributedSampler(dataset)), optimizer).run(90)


if __name__ == "__main__":
    main(torch.ones(64, 2))
