import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader
from tqdm import tqdm


def run(state, epochs):
    accelerator = Accelerator()
    net = torch.nn.Linear(8, 2)
    optimizer = torch.optim.AdamW(net.parameters())
    batches = accelerator.prepare(DataLoader(torch.load("rows.pt"), 32, shuffle=True))
    done = torch.load(state)["step"] if state else 0
    start, skip = done // len(batches), done % len(batches)
    for epoch in range(start, epochs):
        if epoch == start and skip:
            batches = accelerator.skip_first_batches(batches, skip)
        for x in tqdm(batches):
            optimizer.zero_grad()
            accelerator.backward(net(x).mean())
            optimizer.step()


run("last.pt", 10)
