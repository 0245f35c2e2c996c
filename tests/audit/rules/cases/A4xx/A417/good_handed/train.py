import sys

import torch

net = torch.nn.Linear(4, 4)
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
if len(sys.argv) > 1:
    state = torch.load(sys.argv[1])
    net.load_state_dict(state["net"])
    opt.load_state_dict(state["opt"])
net.to("cuda")
moved = torch.optim.Adam(net.parameters(), lr=1e-3)
moved.load_state_dict(opt.state_dict())
for step in range(1000):
    net(torch.randn(2, 4, device="cuda")).sum().backward()
    moved.step()
    moved.zero_grad()
    if step % 100 == 0:
        torch.save({"net": net.state_dict(), "opt": moved.state_dict()}, "last.pt")
