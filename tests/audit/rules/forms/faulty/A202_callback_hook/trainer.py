import torch
import torch.distributed as dist


class Trainer:
    def __init__(self, model, loader, hooks):
        self.model = model
        self.loader = loader
        self.hooks = hooks
        self.rank = dist.get_rank()

    @property
    def is_chief(self):
        return self.rank == 0

    def validate(self):
        total = torch.zeros(2)
        for x, y in self.loader:
            with torch.no_grad():
                total[0] += (self.model(x) - y).pow(2).sum()
                total[1] += len(y)
        dist.all_reduce(total)
        return total[0] / total[1]

    def fit(self, epochs):
        for epoch in range(epochs):
            for x, y in self.loader:
                self.model(x).sum().backward()
            for hook in self.hooks:
                hook.on_epoch_end(self)
