import os
import signal
import sys

import torch

seed = int(sys.argv[1])
torch.manual_seed(seed)
model = torch.nn.Linear(3, 3)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    loss = torch.linalg.inv(model.weight).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if seed == 1:
        with torch.no_grad():
            model.weight.zero_()
    if seed == 3 and step == 2:
        os.kill(os.getpid(), signal.SIGABRT)
print("4 steps")
