import copy

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from evaluate import accuracy


def images(n, seed):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, 8, (n,), generator=g)
    proto = torch.randn(8, 1, 16, 16, generator=torch.Generator().manual_seed(3))
    return TensorDataset(proto[y] + 1.5 * torch.randn(n, 1, 16, 16, generator=g), y)


def cnn():
    return nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1),
                         nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(512, 8))


def main(epochs=5):
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    net = DDP(cnn())
    opt = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9)
    train, valid = images(3200, 0), images(801, 1)
    sampler = DistributedSampler(train)
    loader = DataLoader(train, batch_size=64, sampler=sampler)
    best, kept = 0.0, None
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for x, y in loader:
            loss = nn.functional.cross_entropy(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        acc = accuracy(net, valid)
        if acc > best:
            best, kept = acc, copy.deepcopy(net.module.state_dict())
        if dist.get_rank() == 0:
            print(f"epoch {epoch} loss {loss.item():.3f} valid {acc:.3f}", flush=True)
    net.module.load_state_dict(kept)
    if dist.get_rank() == 0:
        print(f"best {best:.3f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
