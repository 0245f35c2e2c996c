import torch
from sklearn.model_selection import TimeSeriesSplit
from torch import nn

from data import series

x, y = series()
model = nn.Linear(12, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for fold, (past, future) in enumerate(TimeSeriesSplit(5).split(x)):
    for _ in range(100):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x[past]), y[past]).backward()
        optimizer.step()
    with torch.no_grad():
        print(nn.functional.mse_loss(model(x[future]), y[future]).item())
