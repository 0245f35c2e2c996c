import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from layers import ParallelMLP


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(1 + rank)
    model = nn.Sequential(nn.Linear(12, 32), ParallelMLP(32, 64), ParallelMLP(32, 64), nn.Linear(32, 1))
    with torch.no_grad():
        for name, p in model.named_parameters():
            if not (".up." in name or ".down." in name):
                dist.broadcast(p, 0)
    g = torch.Generator().manual_seed(0)
    x = torch.randn(1600, 12, generator=g)
    y = (x[:, :3].prod(dim=1, keepdim=True)).tanh()
    loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True, generator=torch.Generator().manual_seed(4))
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(3):
        for xb, yb in loader:
            loss = nn.functional.mse_loss(model(xb), yb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if rank == 0:
            print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
