import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from model import MultiTask


def tasks():
    while True:
        yield from ("depth", "normal")


def main():
    dist.init_process_group("gloo")
    model = DistributedDataParallel(MultiTask())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step, task in zip(range(40), tasks()):
        x = torch.randn(16, 10)
        loss = model(x, task).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
