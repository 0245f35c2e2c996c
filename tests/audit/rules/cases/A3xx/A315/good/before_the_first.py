import torch
from torch import nn
from torch.utils.data import DataLoader

model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for number, x in enumerate(DataLoader(torch.ones(64, 4))):
    if number % 4 == 0:
        optimizer.zero_grad()
    (model(x).mean() / 4).backward()
    if (number + 1) % 4 == 0:
        optimizer.step()
