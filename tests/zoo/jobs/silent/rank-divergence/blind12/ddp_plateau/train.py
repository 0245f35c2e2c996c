import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Subset, TensorDataset
from torch.utils.data.distributed import DistributedSampler


class AverageMeter:
    def __init__(self):
        self.sum = self.count = 0

    def update(self, value, n=1):
        self.sum += value * n
        self.count += n

    @property
    def avg(self):
        return self.sum / max(self.count, 1)


def build_data():
    gen = torch.Generator().manual_seed(21)
    x = torch.randn(2200, 16, generator=gen)
    coef = torch.randn(16, 2, generator=gen)
    y = torch.tanh(x @ coef) + 0.4 * torch.randn(2200, 2, generator=gen)
    full = TensorDataset(x, y)
    return Subset(full, range(1800)), Subset(full, range(1800, 2200))


class Trainer:
    def __init__(self):
        self.rank = dist.get_rank()
        train, val = build_data()
        self.sampler = DistributedSampler(train, shuffle=True, seed=3)
        self.train_loader = DataLoader(train, 30, sampler=self.sampler)
        self.val_loader = DataLoader(val, 50, sampler=DistributedSampler(val, shuffle=False))
        torch.manual_seed(13)
        net = nn.Sequential(nn.Linear(16, 64), nn.Tanh(), nn.Linear(64, 2))
        self.model = DistributedDataParallel(net)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-2)
        self.scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(self.optimizer, factor=0.3, patience=0,
                                                                    threshold=1e-3)

    def train_epoch(self, epoch):
        self.model.train()
        self.sampler.set_epoch(epoch)
        meter = AverageMeter()
        for x, y in self.train_loader:
            loss = nn.functional.mse_loss(self.model(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            meter.update(loss.item(), len(x))
        return meter.avg

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        meter = AverageMeter()
        for x, y in self.val_loader:
            meter.update(nn.functional.mse_loss(self.model(x), y).item(), len(x))
        return meter.avg

    def fit(self, epochs):
        for epoch in range(epochs):
            loss = self.train_epoch(epoch)
            val = self.validate()
            self.scheduler.step(val)
            lr = self.optimizer.param_groups[0]["lr"]
            print(f"[{self.rank}] epoch {epoch} train {loss:.4f} val {val:.4f} lr {lr:.1e}", flush=True)


if __name__ == "__main__":
    dist.init_process_group("gloo")
    Trainer().fit(14)
    dist.destroy_process_group()
