import torch
import torch.distributed as dist
from cli import Cli


def train():
    dist.init_process_group("gloo")
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(10):
        optimizer.zero_grad()
        model(torch.randn(2, 2)).sum().backward()
        optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    Cli(train)()
