import torch
from torch.nn import functional as F


class Session:
    def __init__(self, model, loader, test, lr):
        self.model, self.loader, self.test = model, loader, test
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9, weight_decay=5e-4)

    def set_lr(self, lr):
        for group in self.optimizer.param_groups:
            group["lr"] = lr

    def train(self, epochs, tag):
        for epoch in range(epochs):
            self.model.train()
            for x, y in self.loader:
                loss = F.cross_entropy(self.model(x), y)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
            print(f"{tag} epoch {epoch}: loss {loss.item():.3f} acc {self.accuracy():.3f}", flush=True)

    @torch.no_grad()
    def accuracy(self):
        self.model.eval()
        x, y = self.test
        return (self.model(x).argmax(1) == y).float().mean().item()
