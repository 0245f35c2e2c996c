import os
import time

import torch

model = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
start = 0
if os.path.exists("last.pt"):
    start, weights = torch.load("last.pt")
    model.load_state_dict(weights)
for step in range(start, 12):
    opt.zero_grad()
    model(torch.ones(1, 2)).pow(2).sum().backward()
    opt.step()
    torch.save((step + 1, model.state_dict()), "last.pt.tmp")
    os.replace("last.pt.tmp", "last.pt")
    with open("progress.tmp", "w") as f:
        f.write(str(step + 1))
    os.replace("progress.tmp", "progress")
    time.sleep(0.08)
