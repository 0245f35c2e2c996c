import copy

import torch


class Run:
    def __init__(self, net):
        self.net = net
        self.optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        self.schedule = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, 100)
        self.teacher = copy.deepcopy(net)
        self.epoch = 0

    def save(self, path):
        parts = {"net": self.net, "opt": self.optimizer, "schedule": self.schedule, "teacher": self.teacher}
        torch.save({**{name: part.state_dict() for name, part in parts.items()}, "epoch": self.epoch}, path)

    def load(self, path):
        state = torch.load(path)
        self.net.load_state_dict(state["net"])
        self.optimizer.load_state_dict(state["opt"])
        if "schedule" in state:
            self.schedule.load_state_dict(state["schedule"])
        self.teacher.load_state_dict(state.get("teacher", state["net"]))
        self.epoch = state["epoch"]

    def go(self, batches):
        while self.epoch < 100:
            for x in batches:
                self.net(x).mean().backward()
                self.optimizer.step()
                self.optimizer.zero_grad()
                for a, b in zip(self.teacher.parameters(), self.net.parameters()):
                    a.data.lerp_(b.data, 0.01)
            self.schedule.step()
            self.epoch += 1
            self.save("last.pt")


if __name__ == "__main__":
    run = Run(torch.nn.Linear(8, 8))
    run.load("last.pt")
    run.go(torch.load("data.pt"))
