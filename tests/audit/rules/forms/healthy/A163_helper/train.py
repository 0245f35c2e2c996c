import torch
import torch.distributed as dist
from setup import Setup


def average(model):
    for p in model.parameters():
        dist.all_reduce(p.grad)
        p.grad /= dist.get_world_size()


def main():
    setup = Setup({"seed": 1})
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(10):
        optimizer.zero_grad()
        model(torch.randn(2, 4)).sum().backward()
        average(model)
        optimizer.step()
    dist.destroy_process_group()


main()
