import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


class Stopper:
    def __init__(self, patience):
        self.patience = patience
        self.best, self.bad = None, 0
        self.stop = False

    def update(self, value):
        if self.best is None or value < self.best:
            self.best, self.bad = value, 0
        else:
            self.bad += 1
        if self.bad > self.patience:
            self.stop = True


def evaluate(model, loader):
    return sum(torch.nn.functional.mse_loss(model(x), y).item() for x, y in loader)


def main(model, loader, optimizer):
    dist.init_process_group("nccl")
    model = DistributedDataParallel(model)
    stopper = Stopper(3)
    for epoch in range(100):
        for x, y in loader:
            loss = torch.nn.functional.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if dist.get_rank() == 0:
            stopper.update(evaluate(model.module, loader))
        if stopper.stop:
            break
    dist.destroy_process_group()


if __name__ == "__main__":
    net = torch.nn.Linear(2, 2)
    main(net, torch.load("batches.pt"), torch.optim.SGD(net.parameters(), lr=0.1))
