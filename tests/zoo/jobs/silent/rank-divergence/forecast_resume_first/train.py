import pathlib

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def build():
    torch.manual_seed(21)
    return nn.Sequential(nn.Linear(5, 20), nn.GELU(), nn.Linear(20, 1))


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    checkpoint = pathlib.Path("last.pt")
    if rank == 0:
        earlier = build()
        for parameter in earlier.parameters():
            nn.init.normal_(parameter, std=0.3)
        torch.save(earlier.state_dict(), checkpoint)
    dist.barrier()
    model = DistributedDataParallel(build())
    if rank == 0:
        model.module.load_state_dict(torch.load(checkpoint))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    generator = torch.Generator().manual_seed(rank)
    for step in range(40):
        x = torch.randn(16, 5, generator=generator)
        loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if rank == 0:
        print(f"loss {loss.item():.4f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
