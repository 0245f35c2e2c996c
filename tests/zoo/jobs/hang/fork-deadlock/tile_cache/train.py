import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from datasets.cache import cache
from datasets.tiles import Tiles


class Run:
    def __init__(self, epochs=2):
        self.epochs = epochs
        self.dataset = Tiles(200)
        if dist.get_rank() == 0:
            self.dataset.warm_up(160)
            cache.start()
            cache.sweeping.wait()
        sampler = DistributedSampler(self.dataset)
        self.loader = DataLoader(self.dataset, batch_size=10, sampler=sampler, num_workers=2,
                                 multiprocessing_context="fork")
        self.model = DDP(nn.Sequential(nn.Flatten(), nn.Linear(192, 2)))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)

    def go(self):
        for epoch in range(self.epochs):
            for tiles, labels in self.loader:
                loss = nn.functional.cross_entropy(self.model(tiles), labels)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
            if dist.get_rank() == 0:
                print("epoch", epoch, "loss", loss.item(), flush=True)


if __name__ == "__main__":
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    Run().go()
    dist.destroy_process_group()
