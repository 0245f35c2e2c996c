import torch


class Run:
    def __init__(self, net):
        self.net = net
        self.optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        self.schedule = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, 100)
        self.epoch = 0

    def save(self, path):
        state = {"net": self.net.state_dict(), "opt": self.optimizer.state_dict(), "epoch": self.epoch}
        state["schedule"] = self.schedule.state_dict()
        torch.save(state, path)

    def load(self, path):
        state = torch.load(path)
        self.net.load_state_dict(state["net"])
        self.optimizer.load_state_dict(state["opt"])
        self.epoch = state["epoch"]

    def go(self, batches):
        while self.epoch < 100:
            for x in batches:
                self.net(x).mean().backward()
                self.optimizer.step()
                self.optimizer.zero_grad()
            self.schedule.step()
            self.epoch += 1
            self.save("last.pt")


if __name__ == "__main__":
    run = Run(torch.nn.Linear(8, 8))
    run.load("last.pt")
    run.go(torch.load("data.pt"))
