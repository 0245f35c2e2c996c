import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel


def mlp(features, width):
    return nn.Sequential(nn.Linear(features, width), nn.SiLU(), nn.Dropout(0.1), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 1))


class Member:
    """One fold's regressor, trained on its own."""

    def __init__(self, fold, features, width, lr):
        torch.manual_seed(fold)
        self.fold = fold
        self.net = mlp(features, width)
        self.ema = AveragedModel(self.net, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.99))
        self.optim = torch.optim.AdamW(self.net.parameters(), lr=lr)

    def epoch(self, x, y, batch):
        self.net.train()
        for idx in torch.randperm(len(x)).split(batch):
            loss = nn.functional.mse_loss(self.net(x[idx]).squeeze(1), y[idx])
            self.optim.zero_grad()
            loss.backward()
            self.optim.step()
            self.ema.update_parameters(self.net)
        return loss.item()

    @torch.no_grad()
    def score(self, x, y):
        self.ema.eval()
        return (self.ema(x).squeeze(1) - y).pow(2).mean().sqrt().item()
