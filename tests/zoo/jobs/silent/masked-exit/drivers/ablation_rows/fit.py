import torch
from torch import nn

DEPTHS = {"shallow": [16], "deep": [16, 8], "odd": [16, 7]}


def fit(name, steps):
    torch.set_num_threads(1)
    torch.manual_seed(3)
    widths = DEPTHS[name]
    trunk = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), *(nn.Linear(16, w) for w in widths[1:]))
    heads = 4
    optimizer = torch.optim.AdamW(trunk.parameters(), lr=1e-2)
    for step in range(steps):
        features = trunk(torch.randn(12, 6))
        if step >= steps // 2:
            features = features.unflatten(1, (heads, features.shape[1] // heads)).mean(2)
        loss = features.square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
