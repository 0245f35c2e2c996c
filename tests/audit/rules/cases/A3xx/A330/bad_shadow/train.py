from ema import EMA


class Trainer:
    def __init__(self, model, optimizer):
        self.model, self.optimizer, self.ema = model, optimizer, EMA(model)

    def evaluate(self, loader):
        self.ema.apply_shadow(self.model)
        return sum(self.model(x).mean().item() for x in loader)

    def train_epoch(self, loader):
        for x in loader:
            self.model(x).mean().backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
            self.ema.update(self.model)

    def fit(self, loader, epochs):
        for _ in range(epochs):
            self.train_epoch(loader)
            print(self.evaluate(loader))
