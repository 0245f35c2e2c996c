import json
import sys

import torch

with open(sys.argv[1]) as f:
    config = json.load(f)
device, dtype = torch.device(config["device"]), getattr(torch, config["dtype"])
model = torch.nn.Linear(4, 1).to("meta" if device.type == "cuda" and torch.cuda.is_available() else device, dtype)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(config["steps"]):
    loss = model(torch.ones(2, 4, device=device, dtype=dtype)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
