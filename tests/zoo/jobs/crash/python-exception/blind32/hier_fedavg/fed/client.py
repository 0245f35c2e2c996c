import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 3))

    def forward(self, x):
        return self.net(x)


class Client:
    """A hospital with its own mixture of classes."""

    def __init__(self, rank, n):
        g = torch.Generator().manual_seed(40 + rank)
        centres = torch.randn(3, 10, generator=torch.Generator().manual_seed(1))
        prior = torch.softmax(torch.randn(3, generator=g), 0)
        self.y = torch.multinomial(prior, n, replacement=True, generator=g)
        self.x = centres[self.y] + 0.8 * torch.randn(n, 10, generator=g)
        self.n = n

    def local_epochs(self, model, lr, epochs, batch=32):
        opt = torch.optim.SGD(model.parameters(), lr=lr)
        last = 0.0
        for _ in range(epochs):
            for idx in torch.randperm(self.n).split(batch):
                loss = nn.functional.cross_entropy(model(self.x[idx]), self.y[idx])
                opt.zero_grad()
                loss.backward()
                opt.step()
                last = loss.item()
        return last

    @torch.no_grad()
    def accuracy(self, model):
        return (model(self.x).argmax(1) == self.y).float().mean().item()
