import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from runtime import Runtime


def net():
    return nn.Sequential(nn.Conv2d(3, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Conv2d(24, 48, 3, padding=1), nn.BatchNorm2d(48), nn.ReLU(), nn.AdaptiveAvgPool2d(1),
                         nn.Flatten(), nn.Linear(48, 10))


def train(rt, steps=80, batch=32):
    torch.manual_seed(0)
    model = DDP(net())
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    g = torch.Generator().manual_seed(rt.rank)
    for step in range(steps):
        y = torch.randint(0, 10, (batch,), generator=g)
        x = torch.randn(batch, 3, 32, 32, generator=g) + y.view(-1, 1, 1, 1) / 5
        loss = nn.functional.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 30 == 0 and rt.rank == 0:
            print(f"step {step} loss {loss.item():.3f}", flush=True)


if __name__ == "__main__":
    with Runtime() as rt:
        train(rt)
