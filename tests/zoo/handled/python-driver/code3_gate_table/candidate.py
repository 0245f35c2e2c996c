import sys

import torch

model = torch.nn.Linear(4, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    opt.zero_grad()
    out = model(torch.ones(2, 4))
    if sys.argv[1] == "nightly":
        out = out.view(3, 1)
    out.pow(2).mean().backward()
    opt.step()
