import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from layers import ParallelMLPBlock


class ShardedRegressor(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.embed = nn.Linear(6, hidden)
        self.blocks = nn.Sequential(ParallelMLPBlock(hidden, 100), ParallelMLPBlock(hidden, 200))
        self.head = nn.Linear(hidden, 2)

    def forward(self, x):
        return self.head(self.blocks(self.embed(x)))


def train_valid_datasets():
    g = torch.Generator().manual_seed(17)
    x = torch.randn(400, 6, generator=g)
    y = torch.stack([torch.sin(x[:, 0] * 2) + x[:, 1], x[:, 2] * x[:, 3]], dim=1)
    return TensorDataset(x[:320], y[:320]), TensorDataset(x[320:], y[320:])


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    torch.manual_seed(4321)
    train_ds, valid_ds = train_valid_datasets()
    # one data-parallel replica: the tensor-parallel ranks read the same micro-batches
    loader = DataLoader(train_ds, batch_size=16, shuffle=True, generator=torch.Generator().manual_seed(0))
    valid = DataLoader(valid_ds, batch_size=40)
    model = ShardedRegressor()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=6e-3, total_steps=2 * len(loader))

    for epoch in range(2):
        model.train()
        for x, y in loader:
            loss = nn.functional.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
        model.eval()
        with torch.no_grad():
            error = sum(nn.functional.mse_loss(model(x), y).item() for x, y in valid) / len(valid)
        if dist.get_rank() == 0:
            print(f"epoch {epoch}: train {loss.item():.4f} valid {error:.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
