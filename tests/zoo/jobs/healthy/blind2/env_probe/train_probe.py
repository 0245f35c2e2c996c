import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from collect import report
from collect.model import SmallConv


def data(n=192):
    g = torch.Generator().manual_seed(0)
    label = torch.randint(0, 4, (n,), generator=g)
    image = torch.randn(n, 1, 10, 10, generator=g) + label[:, None, None, None] * 0.5
    return TensorDataset(image, label)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    if rank == 0:
        report.show(report.environment())
    dist.barrier()
    torch.manual_seed(0)
    model = DDP(SmallConv())
    dataset = data()
    loader = DataLoader(dataset, 16, sampler=DistributedSampler(dataset))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(3):
        loader.sampler.set_epoch(epoch)
        for image, label in loader:
            loss = nn.functional.cross_entropy(model(image), label)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print(f"rank {rank}: final loss {loss.item():.4f}", flush=True)
    dist.destroy_process_group()
    sys.exit(0)


if __name__ == "__main__":
    main()
