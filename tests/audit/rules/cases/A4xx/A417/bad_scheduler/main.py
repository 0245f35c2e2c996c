import sys

import torch


def setup(net, steps):
    opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    return opt, torch.optim.lr_scheduler.CosineAnnealingLR(opt, steps)


def run(path):
    net = torch.nn.Linear(4, 4)
    opt, schedule = setup(net, 100)
    first = 0
    if path:
        state = torch.load(path)
        net.load_state_dict(state["net"])
        opt.load_state_dict(state["opt"])
        schedule.load_state_dict(state["schedule"])
        first = state["epoch"] + 1
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 100)
    for epoch in range(first, 100):
        net(torch.randn(2, 4)).sum().backward()
        opt.step()
        opt.zero_grad()
        schedule.step()
        states = {"net": net.state_dict(), "opt": opt.state_dict(), "schedule": schedule.state_dict(), "epoch": epoch}
        torch.save(states, "last.pt")


run(sys.argv[1] if len(sys.argv) > 1 else "")
