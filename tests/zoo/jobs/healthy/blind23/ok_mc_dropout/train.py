import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

from net import BayesianRegressor


def main():
    torch.manual_seed(0)
    x = torch.cat([torch.rand(1000, 1) * 2 - 3, torch.rand(1000, 1) * 2 + 1])
    y = torch.sin(2 * x) + 0.1 * torch.randn_like(x)
    loader = DataLoader(TensorDataset(x, y), 50, shuffle=True)
    model = BayesianRegressor()
    opt = torch.optim.Adam(model.parameters(), 2e-3, weight_decay=1e-6)
    for epoch in range(60):
        model.train()
        for a, b in loader:
            loss = F.mse_loss(model(a), b)
            opt.zero_grad()
            loss.backward()
            opt.step()
        if epoch % 20 == 19:
            model.eval()
            inside, outside = torch.linspace(1.2, 2.8, 50)[:, None], torch.linspace(5, 7, 50)[:, None]
            mean, std = model.predict(inside)
            _, far = model.predict(outside)
            rmse = (mean - torch.sin(2 * inside)).pow(2).mean().sqrt()
            print(f"epoch {epoch} rmse {rmse:.3f} spread inside {std.mean():.3f} outside {far.mean():.3f}", flush=True)


if __name__ == "__main__":
    main()
