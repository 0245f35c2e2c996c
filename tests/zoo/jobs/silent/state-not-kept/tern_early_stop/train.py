import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset


class EarlyStopping:
    def __init__(self, patience):
        self.patience, self.left, self.best, self.weights = patience, patience, float("inf"), None

    def __call__(self, loss, model):
        if loss < self.best:
            self.best, self.left = loss, self.patience
            self.weights = dict(model.state_dict())
        else:
            self.left -= 1
        return self.left == 0


def main():
    torch.manual_seed(1)
    model = nn.GRU(3, 12, batch_first=True)
    head = nn.Linear(12, 1)
    both = nn.ModuleDict({"body": model, "head": head})
    optimizer = torch.optim.RMSprop(both.parameters(), lr=3e-3)
    x = torch.randn(128, 7, 3)
    y = x[:, :, 0].cumsum(1)[:, -1:]
    loader = DataLoader(TensorDataset(x[:96], y[:96]), batch_size=16, shuffle=True)
    stop = EarlyStopping(3)
    for epoch in range(12):
        for series, target in loader:
            optimizer.zero_grad()
            F.l1_loss(head(model(series)[0][:, -1]), target).backward()
            optimizer.step()
        with torch.no_grad():
            loss = F.l1_loss(head(model(x[96:])[0][:, -1]), y[96:]).item() + max(0, epoch - 3)
        if stop(loss, both):
            break
    both.load_state_dict(stop.weights)
    print(f"stopped after {epoch}, best {stop.best:.3f}", flush=True)


if __name__ == "__main__":
    main()
