import torch
from torch import nn

model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
batches = torch.load("batches.pt")


def evaluate(model, batches):
    for one in model.parameters():
        one.requires_grad = False
    return sum((model(x).argmax(1) == y).float().mean().item() for x, y in batches) / len(batches)


for epoch in range(10):
    for x, y in batches:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    print(epoch, evaluate(model, batches))
