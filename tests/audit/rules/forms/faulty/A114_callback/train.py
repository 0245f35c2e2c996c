import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from callbacks import Unfreeze


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Linear(4, 4)
        self.head = torch.nn.Linear(4, 1)

    def forward(self, x):
        return self.head(self.body(x))


class Trainer:
    def __init__(self, model, callbacks):
        for p in model.body.parameters():
            p.requires_grad_(False)
        self.model = DDP(model)
        self.callbacks = callbacks
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def fit(self, epochs):
        for epoch in range(epochs):
            for callback in self.callbacks:
                callback.on_epoch_start(self, epoch)
            for _ in range(10):
                self.optimizer.zero_grad()
                self.model(torch.randn(2, 4)).sum().backward()
                self.optimizer.step()


def main():
    dist.init_process_group("gloo")
    Trainer(Net(), [Unfreeze(2)]).fit(4)
    dist.destroy_process_group()


main()
