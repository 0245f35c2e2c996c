import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader

accelerator = Accelerator()
net = torch.nn.Linear(8, 2)
optimizer = torch.optim.AdamW(net.parameters())
loader = accelerator.prepare(DataLoader(torch.load("rows.pt"), 32))
done = torch.load("step.pt")
for x in accelerator.skip_first_batches(loader, done % len(loader)):
    optimizer.zero_grad()
    accelerator.backward(net(x).mean())
    optimizer.step()
for epoch in range(done // len(loader) + 1, 10):
    for x in loader:
        optimizer.zero_grad()
        accelerator.backward(net(x).mean())
        optimizer.step()
