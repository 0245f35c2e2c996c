import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def validate(model, loader):
    model.eval()
    right = 0
    with torch.no_grad():
        for x, y in loader:
            right += (model(x).argmax(1) == y).sum().item()
    return right / len(loader.dataset)


def fit(model, train, valid, epochs=4):
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    model.train()
    for epoch in range(epochs):
        for x, y in train:
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: accuracy {validate(model, valid):.3f}")


torch.manual_seed(0)
torch.set_num_threads(1)
x = torch.randn(480, 10)
data = TensorDataset(x, x[:, :3].argmax(1))
train_set, valid_set = torch.utils.data.random_split(data, [400, 80])
net = nn.Sequential(nn.Linear(10, 40), nn.BatchNorm1d(40), nn.ReLU(), nn.Dropout(0.3), nn.Linear(40, 3))
fit(net, DataLoader(train_set, 20, shuffle=True), DataLoader(valid_set, 20))
