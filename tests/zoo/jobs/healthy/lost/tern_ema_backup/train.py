import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset


def evaluate(model, average, x):
    backup = {name: one.clone() for name, one in model.state_dict().items()}
    model.load_state_dict(average)
    model.eval()
    with torch.no_grad():
        error = (model(x) - x.sum(1, keepdim=True)).abs().mean().item()
    model.train()
    model.load_state_dict(backup)
    return error


def main():
    torch.manual_seed(8)
    model = nn.Sequential(nn.Linear(4, 20), nn.ReLU(), nn.Dropout(0.1), nn.Linear(20, 1))
    average = {name: one.clone() for name, one in model.state_dict().items()}
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    x = torch.randn(256, 4)
    for epoch in range(4):
        for (batch,) in DataLoader(TensorDataset(x), batch_size=16, shuffle=True):
            optimizer.zero_grad()
            F.mse_loss(model(batch), batch.sum(1, keepdim=True)).backward()
            optimizer.step()
            for name, one in model.state_dict().items():
                average[name].lerp_(one, 0.05)
        print(f"epoch {epoch} error {evaluate(model, average, x):.3f}", flush=True)


if __name__ == "__main__":
    main()
