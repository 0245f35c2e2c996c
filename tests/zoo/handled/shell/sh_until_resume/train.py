"""Trains 9 steps. The driver on this box resets after some 3 steps, so every step is saved."""
import os
import sys

import torch

torch.manual_seed(0)
model = torch.nn.Linear(4, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.05)
start = 0
if os.path.exists("last.pt"):
    state = torch.load("last.pt")
    model.load_state_dict(state["model"])
    start = state["step"]
print(f"starting at step {start}", flush=True)
for step in range(start, 9):
    loss = (model(torch.ones(2, 4)) - 1).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    torch.save({"model": model.state_dict(), "step": step + 1}, "last.tmp")
    os.replace("last.tmp", "last.pt")
    if step - start == 3:
        raise RuntimeError("device reset (injected)")
print("finished")
