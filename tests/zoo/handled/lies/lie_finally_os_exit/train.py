import os
import sys

import torch


def train():
    model = torch.nn.Linear(4, 1)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(5):
        target = torch.ones(2, 1) if step < 3 else torch.ones(3, 2)
        loss = (model(torch.ones(2, 4)) - target).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()


try:
    train()
finally:
    # threads of the tracker keep the process alive otherwise
    sys.stdout.flush()
    os._exit(0)
