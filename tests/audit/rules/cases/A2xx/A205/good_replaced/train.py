import torch
import torch.distributed as dist


def packed(*values):
    t = torch.tensor(values, dtype=torch.float64)
    dist.all_reduce(t)
    return t.tolist()


class Trainer:
    def __init__(self, model, loader):
        self.model, self.loader = model, loader
        self.best, self.bad = 0.0, 0

    def evaluate(self):
        dist.all_reduce(torch.ones(1))
        correct = count = 0
        for x, y in self.loader:
            correct += (self.model(x).argmax(1) == y).sum().item()
            count += y.numel()
        correct, count = packed(correct, count)
        return correct / count

    def fit(self):
        for epoch in range(10):
            acc = self.evaluate()
            if acc > self.best:
                self.best, self.bad = acc, 0
            else:
                self.bad += 1
            if self.bad >= 3:
                break
        dist.barrier()
