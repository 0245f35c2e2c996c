import os

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

from net import Net

raw = Net().cuda()
names = os.listdir("pretrained")
if names:
    state = torch.load(os.path.join("pretrained", names[0]), map_location="cpu")
    print(raw.load_state_dict(state, strict=False))
model = DDP(raw)
for step in range(1000):
    model(step).backward()
    torch.save(model.state_dict(), os.path.join("runs", f"step_{step}.pt"))
