import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader


def run(state, epochs):
    accelerator = Accelerator()
    net = torch.nn.Linear(8, 2)
    optimizer = torch.optim.AdamW(net.parameters())
    loader = accelerator.prepare(DataLoader(torch.load("rows.pt"), 32, shuffle=True))
    done = torch.load(state)["step"] if state else 0
    start, skip = done // len(loader), done % len(loader)
    for epoch in range(start, epochs):
        if epoch == start and skip:
            active = accelerator.skip_first_batches(loader, skip)
        else:
            active = loader
        for x in active:
            optimizer.zero_grad()
            accelerator.backward(net(x).mean())
            optimizer.step()
    for epoch in range(start, epochs):
        chosen = accelerator.skip_first_batches(loader, skip) if epoch == start else loader
        for x in chosen:
            optimizer.zero_grad()
            accelerator.backward(net(x).mean())
            optimizer.step()
    skipped = accelerator.skip_first_batches(loader, skip)
    for epoch in range(start, epochs):
        for x in skipped if epoch == start else loader:
            optimizer.zero_grad()
            accelerator.backward(net(x).mean())
            optimizer.step()


run("last.pt", 10)
