import sys

import torch
from torch import nn

model = nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
state = torch.load(sys.argv[1], weights_only=True)
model.load_state_dict(state["model"])
for _ in range(3):
    loss = model(torch.ones(2, 3)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("resumed")
