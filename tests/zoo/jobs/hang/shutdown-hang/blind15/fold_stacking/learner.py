import torch
from torch import nn


class Tabular(nn.Module):
    def __init__(self, columns, hidden=64):
        super().__init__()
        self.body = nn.Sequential(nn.BatchNorm1d(columns), nn.Linear(columns, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.head = nn.Linear(hidden, 1)

    def forward(self, x):
        return self.head(self.body(x)).squeeze(1)


def table(rows=24000, columns=20, seed=0):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(rows, columns, generator=g)
    y = (x[:, 0] * x[:, 1] + x[:, 2].sin() + 0.1 * torch.randn(rows, generator=g) > 0).float()
    return x, y


def fit_fold(fold, folds, epochs, batch=128):
    torch.manual_seed(100 + fold)
    x, y = table()
    test = torch.arange(len(x)) % folds == fold
    model = Tabular(x.shape[1])
    opt = torch.optim.Adam(model.parameters(), 2e-3)
    tx, ty = x[~test], y[~test]
    for _ in range(epochs):
        for rows in torch.randperm(len(tx)).split(batch):
            loss = nn.functional.binary_cross_entropy_with_logits(model(tx[rows]), ty[rows])
            opt.zero_grad()
            loss.backward()
            opt.step()
    model.eval()
    with torch.no_grad():
        scores = model(x[test]).sigmoid()
    return test.nonzero().squeeze(1).tolist(), scores.tolist(), ((scores > 0.5) == y[test].bool()).float().mean().item()
