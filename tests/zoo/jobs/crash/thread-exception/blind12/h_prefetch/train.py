import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from prefetch import Prefetcher


def batches(rank, epoch, n=60):
    g = torch.Generator().manual_seed(rank * 1000 + epoch)
    for i in range(n):
        width = 32
        if rank == 1 and epoch == 1 and i == 25:
            width = 30
        x = torch.randn(16, width, generator=g)
        yield x, torch.randint(1, width + 1, (16,), generator=g)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    model = DDP(nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1)))
    opt = torch.optim.Adam(model.parameters(), 1e-3)
    for epoch in range(3):
        for x, y in Prefetcher(batches(rank, epoch)):
            loss = nn.functional.mse_loss(model(x).squeeze(1), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        if rank == 0:
            print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
