import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Plants(nn.Module):
    def __init__(self, kinds):
        super().__init__()
        self.stem = nn.Sequential(nn.Linear(8, 20), nn.ReLU())
        self.head = nn.Linear(20, kinds)

    def forward(self, x):
        return self.head(self.stem(x))


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(6)
    model = Plants(kinds=10)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    model.head = nn.Linear(20, 4)
    ddp = DistributedDataParallel(model)
    generator = torch.Generator().manual_seed(rank)
    for step in range(30):
        x = torch.randn(16, 8, generator=generator)
        loss = nn.functional.cross_entropy(ddp(x), x[:, :4].argmax(1))
        ddp.zero_grad()
        loss.backward()
        optimizer.step()
    if rank == 0:
        print(f"loss {loss.item():.4f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
