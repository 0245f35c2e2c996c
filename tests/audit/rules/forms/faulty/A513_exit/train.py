import torch
import torch.distributed as dist
from scope import Safe


def main():
    dist.init_process_group("gloo")
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with Safe():
        for _ in range(10):
            optimizer.zero_grad()
            model(torch.randn(2, 2)).sum().backward()
            optimizer.step()
    dist.destroy_process_group()


main()
