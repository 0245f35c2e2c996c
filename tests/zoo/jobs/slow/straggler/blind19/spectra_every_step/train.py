import time

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from monitor import WeightMonitor

EPOCHS, BATCH, WIDTH = 6, 32, 200


def network():
    layers, last = [], 64
    for _ in range(3):
        layers += [nn.Linear(last, WIDTH), nn.ReLU()]
        last = WIDTH
    return nn.Sequential(*layers, nn.Linear(last, 8))


def data(n=2560):
    g = torch.Generator().manual_seed(3)
    x = torch.randn(n, 64, generator=g)
    teacher = torch.randn(64, 8, generator=g)
    return TensorDataset(x, (torch.tanh(x @ teacher)).argmax(1))


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    ds = data()
    sampler = DistributedSampler(ds)
    loader = DataLoader(ds, BATCH, sampler=sampler)
    model = DDP(network())
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    monitor = WeightMonitor("spectra.jsonl", rank)
    step, begin = 0, time.time()
    for epoch in range(EPOCHS):
        sampler.set_epoch(epoch)
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            step += 1
            monitor(model.module, step)
        if rank == 0:
            rate = step / (time.time() - begin)
            print(f"epoch {epoch} loss {loss.item():.4f} {rate:.1f} steps/s", flush=True)
    monitor.close()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
