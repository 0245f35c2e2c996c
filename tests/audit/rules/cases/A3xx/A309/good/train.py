"""Gradients are cleared before each backward."""
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def train_step(model, optimizer, x):
    loss = model(x).square().mean()
    optimizer.zero_grad()
    loss.backward()  # cause
    optimizer.step()  # cause
    return loss


def main():
    dist.init_process_group("gloo")
    model = DDP(torch.nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(100):
        loss = train_step(model, optimizer, torch.randn(8, 4))
        if step % 10 == 0:
            print(loss.item())
    dist.destroy_process_group()


main()
