import copy

import torch


def main():
    net = torch.nn.Linear(8, 8)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    state = torch.load("last.pt")
    net.load_state_dict(state["net"])
    optimizer.load_state_dict(state["opt"])
    mean = copy.deepcopy(net)  # begins from the weights that were loaded
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 100, last_epoch=state["epoch"])
    frozen = copy.deepcopy(net)
    for epoch in range(state["epoch"] + 1, 100):
        for x in torch.load("data.pt"):
            (net(x) - frozen(x)).mean().backward()
            optimizer.step()
            optimizer.zero_grad()
            for a, b in zip(mean.parameters(), net.parameters()):
                a.data.lerp_(b.data, 0.01)
        schedule.step()
        torch.save({"net": net.state_dict(), "opt": optimizer.state_dict(), "mean": mean.state_dict(), "epoch": epoch,
                    "frozen": frozen.state_dict(), "schedule": schedule.state_dict()}, "last.pt")


if __name__ == "__main__":
    main()
