import torch


class Scaled:
    def __init__(self, optimizer):
        self.optimizer, self.now = optimizer, 0

    def step(self):
        self.now += 1
        before = []
        for group in self.optimizer.param_groups:
            before.append(group["lr"])
            group["lr"] *= min(1.0, self.now / 100)
        self.optimizer.step()
        for lr, group in zip(before, self.optimizer.param_groups):
            group["lr"] = lr


def train(model, batches):
    scaled = Scaled(torch.optim.SGD(model.parameters(), lr=0.1))
    for batch in batches:
        scaled.optimizer.zero_grad()
        model(batch).mean().backward()
        scaled.step()
