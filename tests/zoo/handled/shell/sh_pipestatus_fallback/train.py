import sys

import torch

torch.manual_seed(0)
model = torch.nn.Linear(6, 1)
if "--compile" in sys.argv:
    sys.tracebacklimit = 0
    raise RuntimeError("Failed to find C compiler. Please specify via CC environment variable.")
opt = torch.optim.AdamW(model.parameters(), lr=0.1)
for step in range(3):
    loss = model(torch.ones(2, 6)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("3 steps in eager mode")
