from pathlib import Path

import torch
from torch import nn

from net import Net

folder = Path("out")
net = Net()
ready = sorted(folder.glob("*.pt"))
if ready:
    weights = torch.load(ready[-1], map_location="cpu")["state"]
    own = net.state_dict()
    net.load_state_dict({name: one for name, one in weights.items() if name in own}, strict=False)
model = nn.parallel.DistributedDataParallel(net)
for epoch in range(10):
    model(epoch).sum().backward()
    torch.save({"state": model.state_dict(), "epoch": epoch}, folder / f"{epoch}.pt")
