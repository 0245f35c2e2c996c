import sys

import torch

rate, momentum = map(float, sys.argv[1:3])
torch.set_num_threads(1)
torch.manual_seed(1)
weight = torch.nn.Parameter(torch.randn(8, 8))
optimizer = torch.optim.SGD([weight], lr=rate, momentum=momentum)
for step in range(30):
    loss = (torch.randn(4, 8) @ weight).pow(4).mean()
    if not torch.isfinite(loss):
        raise FloatingPointError(f"loss is {loss.item()} at step {step}")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
torch.save(weight.detach(), f"toy-{rate}-{momentum}.pt")
