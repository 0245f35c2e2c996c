import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from app.comm import setup


def main():
    rank, world = setup()
    model = nn.Sequential(nn.Linear(9, 32), nn.ReLU(), nn.Linear(32, 1))
    if world > 1:
        model = DistributedDataParallel(model)
    opt = torch.optim.Adam(model.parameters(), 1e-3)
    g = torch.Generator().manual_seed(rank)
    for step in range(300):
        x = torch.randn(64, 9, generator=g)
        loss = nn.functional.mse_loss(model(x), x[:, :2].prod(1, keepdim=True))
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(rank, loss.item(), flush=True)
    if world > 1:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
