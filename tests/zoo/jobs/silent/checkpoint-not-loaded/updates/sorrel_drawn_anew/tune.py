import torch
from torch import nn
from torch.utils.data import DataLoader

from readings import readings


def draw(module):
    if isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)
        nn.init.zeros_(module.bias)


def net():
    return nn.Sequential(nn.Linear(12, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 5))


def pretrained(path):
    model = net()
    model.load_state_dict(torch.load(path, weights_only=True))
    model.apply(draw)
    return model


def fit(model, epochs, seed):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(epochs):
        for x, kind in DataLoader(readings(seed=seed), batch_size=32, shuffle=True):
            loss = nn.functional.cross_entropy(model(x), kind)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return loss.item()


if __name__ == "__main__":
    torch.manual_seed(0)
    torch.save(net().state_dict(), "pretrained.pt")
    print("tuned", fit(pretrained("pretrained.pt"), 8, seed=2))
