import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Birds(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(12, 24), nn.Tanh(), nn.Linear(24, 24), nn.Tanh())
        self.head = nn.Linear(24, 3)

    def forward(self, x):
        return self.head(self.backbone(x))


def freeze(module, frozen):
    for parameter in module.parameters():
        parameter.requires_grad = not frozen


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = Birds()
    freeze(model.backbone, True)
    freeze(model.backbone, False)
    ddp = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(ddp.parameters(), lr=0.05)
    generator = torch.Generator().manual_seed(50 + rank)
    for step in range(30):
        x = torch.randn(16, 12, generator=generator)
        y = x[:, :3].argmax(1)
        loss = nn.functional.cross_entropy(ddp(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if rank == 0:
        print(f"loss {loss.item():.3f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
