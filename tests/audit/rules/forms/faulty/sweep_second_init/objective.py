import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset, random_split


def blobs(n=20000, classes=10, dim=40):
    gen = torch.Generator().manual_seed(4)
    centre = torch.randn(classes, dim, generator=gen)
    y = torch.randint(classes, (n,), generator=gen)
    x = centre[y] + 1.5 * torch.randn(n, dim, generator=gen)
    return random_split(TensorDataset(x, y), [n - 2000, 2000], generator=gen)


def network(width, dropout):
    return nn.Sequential(
        nn.Linear(40, width), nn.ReLU(), nn.Dropout(dropout), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 10)
    )


@torch.no_grad()
def score(model, data):
    model.eval()
    rank, world = dist.get_rank(), dist.get_world_size()
    hits = torch.zeros(2, dtype=torch.float64)
    for i in range(rank, len(data), world):
        x, y = data[i]
        hits += torch.tensor([float(model.module(x[None]).argmax(1) == y), 1.0], dtype=torch.float64)
    model.train()
    dist.all_reduce(hits)
    return (hits[0] / hits[1]).item()


def train(params, epochs):
    dist.init_process_group("gloo")  # cause
    chief = dist.get_rank() == 0
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    torch.manual_seed(0)
    train_set, val_set = blobs()
    model = DDP(network(params["width"], params["dropout"]))
    opt = torch.optim.Adam(model.parameters(), lr=params["lr"])
    sampler = DistributedSampler(train_set)
    loader = DataLoader(train_set, 64, sampler=sampler)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
    return score(model, val_set), chief
