import os

import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader


def main(folder, epochs=4):
    accelerator = Accelerator()
    net = torch.nn.Linear(8, 2)
    optimizer = torch.optim.AdamW(net.parameters())
    loader = DataLoader(torch.load("rows.pt"), 32, shuffle=True)
    net, optimizer, loader = accelerator.prepare(net, optimizer, loader)
    first, seen = 0, 0
    if os.path.isdir(folder):
        accelerator.load_state(folder)
        first, seen = divmod(int(open(os.path.join(folder, "step")).read()), len(loader))
    if seen:
        loader = accelerator.skip_first_batches(loader, num_batches=seen)
    for epoch in range(first, epochs):
        for step, x in enumerate(loader):
            optimizer.zero_grad()
            accelerator.backward(net(x).mean())
            optimizer.step()
        accelerator.save_state(folder)


main("state")
