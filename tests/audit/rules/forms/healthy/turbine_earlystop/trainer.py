import torch
import torch.distributed as dist
from torch import nn


class Patience:
    def __init__(self, limit, delta=1e-4):
        self.limit, self.delta = limit, delta
        self.best = float("inf")
        self.bad = 0

    def exhausted(self, value):
        if value < self.best - self.delta:
            self.best, self.bad = value, 0
        else:
            self.bad += 1
        return self.bad >= self.limit


class ForecastTrainer:
    def __init__(self, model, opt, train_loader, val_loader, device, patience=5):
        self.model, self.opt = model, opt
        self.train_loader, self.val_loader = train_loader, val_loader
        self.device = device
        self.patience = Patience(patience)
        self.lossf = nn.HuberLoss()

    def _train(self, epoch):
        self.model.train()
        self.train_loader.sampler.set_epoch(epoch)
        for x, y in self.train_loader:
            self.opt.zero_grad()
            self.lossf(self.model(x.to(self.device)), y.to(self.device)).backward()
            self.opt.step()

    @torch.no_grad()
    def _validate(self):
        self.model.eval()
        stats = torch.zeros(2, dtype=torch.float64, device=self.device)
        for x, y in self.val_loader:
            loss = self.lossf(self.model(x.to(self.device)), y.to(self.device))
            stats += torch.stack([loss.double() * len(x), stats.new_tensor(len(x))])
        dist.all_reduce(stats)
        return stats

    def fit(self, epochs):
        for epoch in range(epochs):
            self._train(epoch)
            total, count = self._validate().tolist()
            score = total / count
            if dist.get_rank() == 0:
                print(f"{epoch:03d} huber={score:.5f}")
            if self.patience.exhausted(score):
                break
        return self.patience.best
