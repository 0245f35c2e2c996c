import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def batches(rank, steps):
    generator = torch.Generator().manual_seed(100 + rank)
    for _ in range(steps):
        x = torch.randn(32, 6, generator=generator)
        yield x, (x.sum(1, keepdim=True) > 0).float()


def fit(network, optimizer, rank, steps=40):
    criterion = nn.BCEWithLogitsLoss()
    for x, y in batches(rank, steps):
        optimizer.zero_grad()
        prediction = network(x)
        loss = criterion(prediction, y)
        loss.backward()
        optimizer.step()
        mean = loss.detach().clone()
        dist.all_reduce(mean)
    return mean.item() / dist.get_world_size()


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    network = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 1))
    ddp = DistributedDataParallel(network)
    optimizer = torch.optim.SGD(ddp.parameters(), lr=0.1, momentum=0.9)
    final = fit(ddp.module, optimizer, rank)
    if rank == 0:
        print(f"loss {final:.4f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
