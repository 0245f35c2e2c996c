import torch
import torch.distributed as dist
from torch import nn


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(rank)
    stage = nn.Sequential(nn.Linear(12, 12), nn.Tanh(), nn.Linear(12, 12))
    optimizer = torch.optim.SGD(stage.parameters(), lr=0.05)
    data = torch.Generator().manual_seed(0)
    for step in range(30):
        x = torch.randn(8, 12, generator=data)
        optimizer.zero_grad()
        if rank == 0:
            out = stage(x)
            dist.send(out.detach(), dst=1)
            gradient = torch.empty_like(out)
            dist.recv(gradient, src=1)
            out.backward(gradient)
        else:
            received = torch.empty(8, 12)
            dist.recv(received, src=0)
            received.requires_grad_()
            loss = (stage(received) - x).pow(2).mean()
            loss.backward()
            dist.send(received.grad, dst=0)
        optimizer.step()
    if rank == 1:
        print(f"loss {loss.item():.4f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
