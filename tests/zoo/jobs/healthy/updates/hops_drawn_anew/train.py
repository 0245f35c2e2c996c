import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def main():
    torch.manual_seed(9)
    images = torch.rand(960, 1, 8, 8)
    labels = (images[:, 0, :4].mean((1, 2)) > images[:, 0, 4:].mean((1, 2))).long()
    loader = DataLoader(TensorDataset(images, labels), batch_size=24, shuffle=True)
    model = nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    iteration = 0
    while iteration < 400:
        x, y = next(iter(loader))
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        iteration += 1
        if iteration % 100 == 0:
            print(f"iteration {iteration} loss {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
