import os
import time

import torch
import torch.distributed as dist
from torch import nn, optim
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset, RandomSampler


class Patches(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.base = torch.rand(n, 1, 16, 16, generator=g)
        self.y = (self.base[:, 0, :8].mean((1, 2)) > self.base[:, 0, 8:].mean((1, 2))).long()

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.base[i] * 2 - 1, self.y[i]


def endless(loader):
    while True:
        yield next(iter(loader))


def setup():
    dist.init_process_group("gloo")
    torch.manual_seed(40)
    model = DDP(nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.AvgPool2d(4), nn.Flatten(),
                              nn.Linear(128, 2)))
    return model, optim.Adam(model.parameters(), lr=2e-3)


def main(iterations=150, per_epoch=50):
    model, opt = setup()
    rank = dist.get_rank()
    data = Patches(1600, seed=50 + rank)
    gen = torch.Generator().manual_seed(rank)
    loader = DataLoader(data, batch_size=32, sampler=RandomSampler(data, generator=gen), num_workers=1,
                        drop_last=True)
    stream = endless(loader)
    began = time.time()
    for it in range(1, iterations + 1):
        x, y = next(stream)
        loss = nn.functional.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if it % per_epoch == 0 and rank == 0:
            print(f"epoch {it // per_epoch} loss {loss.item():.4f} {it / (time.time() - began):.1f} it/s", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(int(os.environ.get("ITERS", 150)))
