import sys

import torch

net = torch.nn.Linear(4, 4)
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
if len(sys.argv) > 1:
    state = torch.load(sys.argv[1])
    net.load_state_dict(state["net"])
    try:
        opt.load_state_dict(state["opt"])
    except ValueError:
        print("other groups: the optimizer begins anew")
        opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(1000):
    net(torch.randn(2, 4)).sum().backward()
    opt.step()
    opt.zero_grad()
    if step % 100 == 0:
        torch.save({"net": net.state_dict(), "opt": opt.state_dict()}, "last.pt")
