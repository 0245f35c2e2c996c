import torch
from torch import nn

from data import folds, held_out

# A linear head for each fold over features that nothing trains, and a model over all data at the end.
backbone = nn.Linear(64, 12).requires_grad_(False)
for fold in folds(5):
    head = nn.Linear(12, 3)
    optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
    for x, y in fold.train:
        optimizer.zero_grad()
        nn.functional.cross_entropy(head(backbone(x)), y).backward()
        optimizer.step()
    with torch.no_grad():
        print((head(backbone(fold.val.x)).argmax(1) == fold.val.y).float().mean().item())

model = nn.Linear(64, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(10):
    for x, y in held_out():
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
