"""Deep ensemble, one member a rank: own start, own order, the whole data; only predictions meet."""
import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    g = torch.Generator().manual_seed(0)
    x = torch.randn(1500, 5, generator=g)
    y = torch.sin(x[:, :1] * 2) * x[:, 1:2] + 0.3 * torch.randn(1500, 1, generator=g)
    train, held = TensorDataset(x[:1000], y[:1000]), (x[1000:], y[1000:])
    torch.manual_seed(31 + rank)
    member = nn.Sequential(nn.Linear(5, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
    opt = torch.optim.Adam(member.parameters(), 2e-3)
    loader = DataLoader(train, 50, shuffle=True)
    for epoch in range(20):
        for a, b in loader:
            loss = F.mse_loss(member(a), b)
            opt.zero_grad()
            loss.backward()
            opt.step()
        if epoch % 5 == 4:
            with torch.no_grad():
                mine = member(held[0])
            alone = F.mse_loss(mine, held[1]).item()
            dist.all_reduce(mine)
            if rank == 0:
                print(f"epoch {epoch} member {alone:.4f} ensemble {F.mse_loss(mine / world, held[1]).item():.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
