import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset


class Loaders:
    def __init__(self, train, val, batch):
        options = {"batch_size": batch, "num_workers": 0, "drop_last": True}
        self.train_loader = DataLoader(train, shuffle=True, **options)
        self.val_loader = DataLoader(val, **options)


def main():
    torch.manual_seed(2)
    x = torch.randn(660, 5)
    loaders = Loaders(TensorDataset(x[:640]), TensorDataset(x[640:]), 64)
    model = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(4):
        for (batch,) in loaders.train_loader:
            optimizer.zero_grad()
            F.mse_loss(model(batch), batch.sum(1, keepdim=True)).backward()
            optimizer.step()
        error, count = 0.0, 0
        with torch.no_grad():
            for (batch,) in loaders.val_loader:
                error, count = error + F.mse_loss(model(batch), batch.sum(1, keepdim=True)).item(), count + 1
        print(f"epoch {epoch} validation {error / max(1, count):.3f}", flush=True)


if __name__ == "__main__":
    main()
