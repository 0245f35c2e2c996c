import sys

import torch

shard = int(sys.argv[1])
model = torch.nn.Linear(4, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
data = {0: torch.ones(6, 4), 1: torch.ones(6, 4)}[shard]
for x in data:
    opt.zero_grad()
    model(x).sum().backward()
    opt.step()
torch.save(model.state_dict(), f"shard{shard}.pt")
