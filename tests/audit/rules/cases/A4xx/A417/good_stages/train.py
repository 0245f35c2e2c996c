import sys

import torch


def train(net, opt, steps, name):
    for _ in range(steps):
        net(torch.randn(2, 4)).sum().backward()
        opt.step()
        opt.zero_grad()
    torch.save({"net": net.state_dict(), "opt": opt.state_dict()}, name)


student, teacher = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)
opt = torch.optim.Adam(student.parameters(), lr=1e-3)
if len(sys.argv) > 1:
    state = torch.load(sys.argv[1])
    student.load_state_dict(state["net"])
    opt.load_state_dict(state["opt"])
train(student, opt, 1000, "first.pt")
opt = torch.optim.Adam(student.parameters(), lr=1e-4)
train(student, opt, 1000, "second.pt")
