import torch


class Warm:
    def __init__(self, optimizer, factor, warm):
        self.optimizer, self.warm, self.now = optimizer, warm, 0
        self.factor = factor

    def value(self):
        if self.now < self.warm:
            return self.factor
        value = self.factor * (self.warm / self.now) ** 0.5
        return value

    def step(self):
        self.now += 1
        self.factor = self.value()
        for group in self.optimizer.param_groups:
            group["lr"] = self.factor


def adjust(optimizer, epoch):
    for group in optimizer.param_groups:
        lr = group["lr"] * 0.1 ** (epoch // 30)
        group["lr"] = lr


def train(model, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(90):
        adjust(optimizer, epoch)
        for batch in batches:
            optimizer.zero_grad()
            model(batch).mean().backward()
            optimizer.step()
