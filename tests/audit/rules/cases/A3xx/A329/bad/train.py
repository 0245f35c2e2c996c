import torch


class Poly:
    def __init__(self, optimizer, lr, total):
        self.optimizer, self.total = optimizer, total
        self.lr = lr
        self.steps = 0

    def step(self):
        self.steps += 1
        self.lr = self.lr * (1 - self.steps / self.total) ** 0.9
        for group in self.optimizer.param_groups:
            group["lr"] = self.lr


def train(model, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    schedule = Poly(optimizer, 0.1, len(batches))
    for batch in batches:
        optimizer.zero_grad()
        model(batch).mean().backward()
        optimizer.step()
        schedule.step()
