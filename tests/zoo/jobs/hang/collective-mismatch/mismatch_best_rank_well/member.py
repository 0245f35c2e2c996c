import torch


class Member:
    def __init__(self, rank):
        self.g = torch.Generator().manual_seed(rank)
        self.net = torch.nn.Linear(6, 1)
        self.lr = 10 ** -(1 + 0.5 * rank)
        self.progress = torch.zeros(1)

    def step(self):
        x = torch.randn(32, 6, generator=self.g)
        loss = (self.net(x) - x.mean(1, keepdim=True)).square().mean()
        self.net.zero_grad()
        loss.backward()
        with torch.no_grad():
            for p in self.net.parameters():
                p -= self.lr * p.grad
        self.progress = torch.tensor([32.0])
        return loss.item()
