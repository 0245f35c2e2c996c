import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset


class Validation:
    def __init__(self, model, held):
        self.model, self.score = model, 0.0
        self.held = held

    @torch.no_grad()
    def __call__(self):
        self.model.eval()
        right = []
        for index, (x, y) in enumerate(self.held):
            right.append((self.model(x).argmax(1) == y).float().mean().item())
        self.model.train()
        self.score = sum(right) / len(right) if right else self.score
        return self.score


def main():
    torch.manual_seed(3)
    x = torch.randn(400, 6)
    data = TensorDataset(x, (x[:, 0] > 0).long())
    train, held = torch.utils.data.random_split(data, [320, 80])
    model = nn.Sequential(nn.Linear(6, 16), nn.Dropout(0.2), nn.ReLU(), nn.Linear(16, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    validate = Validation(model, DataLoader(held, batch_size=16))
    for epoch in range(5):
        for features, label in DataLoader(train, batch_size=16, shuffle=True):
            optimizer.zero_grad()
            F.cross_entropy(model(features), label).backward()
            optimizer.step()
        print(f"epoch {epoch} accuracy {validate():.3f}", flush=True)


if __name__ == "__main__":
    main()
