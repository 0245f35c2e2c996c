import sys

import torch


def build(net):
    return torch.optim.Adam(net.parameters(), lr=1e-3)


def optimizer_of(net, path):
    if path:
        state = torch.load(path)
        net.load_state_dict(state["net"])
        made = build(net)
        made.load_state_dict(state["opt"])
        return made
    return build(net)


net = torch.nn.Linear(4, 4)
opt = optimizer_of(net, sys.argv[1] if len(sys.argv) > 1 else "")
for step in range(1000):
    net(torch.randn(2, 4)).sum().backward()
    opt.step()
    opt.zero_grad()
    if step % 100 == 0:
        torch.save({"net": net.state_dict(), "opt": opt.state_dict()}, "last.pt")
