import torch


class Average:
    """A running mean begins with nothing, and no setting."""

    def __init__(self, first, decay, warm):
        self.value, self.count, self.decay, self.warm = 0.0, 0, decay, warm
        self.mean = first
        self.base = decay

    def add(self, x):
        self.count += 1
        self.value = self.value + (x - self.value) / self.count
        self.mean = self.mean + (x - self.mean) / self.count
        self.now = self.decay * (1 - self.count / self.warm)
        if self.count == self.warm:
            self.decay = self.decay * self.count / 2


class Steps:
    def __init__(self, lr, gamma):
        self.lr, self.gamma, self.steps = lr, gamma, 0
        self.seed = lr

    def step(self):
        self.steps += 1
        if self.steps % 100 == 0:
            self.lr = self.lr * self.gamma
        self.seed = self.seed + self.steps

    def chained(self, total):
        self.lr = self.lr * (1 - self.steps / total) / (1 - (self.steps - 1) / total)


def train(model, batches, epochs, base):
    optimizer = torch.optim.SGD(model.parameters(), lr=base)
    for epoch in range(epochs):
        for batch in batches:
            model(batch).mean().backward()
            optimizer.step()
        for group in optimizer.param_groups:
            group["lr"] = base * 0.1 ** (epoch // 30)
            group["weight_decay"] *= 0.99
        if epoch in (30, 60):
            for group in optimizer.param_groups:
                group["lr"] *= 0.1 * (1 + epoch / 100)
