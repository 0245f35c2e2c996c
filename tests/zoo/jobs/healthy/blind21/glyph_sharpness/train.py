import gc
import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

from glyphs import Glyphs
from optim.bn import running_stats_frozen
from optim.sam import SAM


def network():
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(512, 10),
    )


class SharpnessTrainer:
    def __init__(self, train, test, epochs=5, batch_size=32):
        self.epochs = epochs
        self.sampler = DistributedSampler(train)
        self.loader = DataLoader(train, batch_size=batch_size, sampler=self.sampler, drop_last=True)
        self.test = DataLoader(test, batch_size=128)
        self.model = DistributedDataParallel(network())
        self.optimizer = SAM(self.model.parameters(), torch.optim.SGD, rho=0.05, lr=0.01, momentum=0.9)
        self.schedule = torch.optim.lr_scheduler.CosineAnnealingLR(
            self.optimizer.base_optimizer, T_max=epochs * len(self.loader)
        )

    def step(self, x, y):
        with self.model.no_sync():
            loss = F.cross_entropy(self.model(x), y)
            loss.backward()
        self.optimizer.climb()
        with running_stats_frozen(self.model):
            F.cross_entropy(self.model(x), y).backward()
        self.optimizer.descend()
        self.schedule.step()
        return loss.item()

    @torch.no_grad()
    def accuracy(self):
        self.model.eval()
        hits = sum((self.model.module(x).argmax(1) == y).sum().item() for x, y in self.test)
        self.model.train()
        return hits / len(self.test.dataset)

    def fit(self):
        for epoch in range(self.epochs):
            self.sampler.set_epoch(epoch)
            losses = [self.step(x, y) for x, y in self.loader]
            accuracy = self.accuracy()
            if dist.get_rank() == 0:
                print(f"epoch {epoch} loss {sum(losses) / len(losses):.4f} accuracy {accuracy:.3f}", flush=True)


if __name__ == "__main__":
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    SharpnessTrainer(Glyphs(2560, seed=1, label_noise=0.05), Glyphs(512, seed=2)).fit()
    gc.collect()
    dist.barrier()
    dist.destroy_process_group()
