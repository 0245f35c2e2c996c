import sys

import torch

lr, width = float(sys.argv[1]), int(sys.argv[2])
if width < 1:
    raise ValueError(f"width must be at least 1, not {width}")
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(3, width), torch.nn.Linear(width, 1))
opt = torch.optim.SGD(model.parameters(), lr=lr)
for step in range(10):
    loss = model(torch.ones(4, 3)).pow(2).mean()
    if not torch.isfinite(loss):
        raise FloatingPointError("loss is not finite")
    opt.zero_grad()
    loss.backward()
    opt.step()
print("finished")
