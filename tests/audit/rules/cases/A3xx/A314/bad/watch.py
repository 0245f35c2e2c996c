import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Watch:
    def __init__(self, loader, every):
        self.loader, self.every = loader, every

    @torch.no_grad()
    def measure(self, model):
        model.eval()
        total = sum(nn.functional.mse_loss(model(x), y).item() for x, y in self.loader)
        return total

    def after(self, step, job):
        if step % self.every == 0:
            print(step, self.measure(job.model))


class Job:
    def __init__(self, watch):
        self.model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.1), nn.Linear(8, 1))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.watch = watch

    def run(self, loader):
        self.model.train()
        for step, (x, y) in enumerate(loader):
            self.optimizer.zero_grad()
            nn.functional.mse_loss(self.model(x), y).backward()
            self.optimizer.step()
            self.watch.after(step, self)


if __name__ == "__main__":
    data = TensorDataset(torch.randn(64, 4), torch.zeros(64, 1))
    Job(Watch(DataLoader(data, 32), 5)).run(DataLoader(data, 8))
