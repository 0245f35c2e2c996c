import glob
import os

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

from net import Net

folder = "runs"
raw = Net().cuda()
found = glob.glob(os.path.join(folder, "bare_*.pt"))
if found:
    print(raw.load_state_dict(torch.load(found[-1], map_location="cpu"), strict=False))
model = DDP(raw)
for step in range(1000):
    model(step).backward()
    torch.save(model.state_dict(), os.path.join(folder, f"step_{step}.pt"))
    torch.save(model.module.state_dict(), os.path.join(folder, f"bare_{step}.pt"))
