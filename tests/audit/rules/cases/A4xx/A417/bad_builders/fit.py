import os

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.head = torch.nn.Linear(8, 2)

    def forward(self, x):
        return self.head(x)


class Fitter:
    def __init__(self, net):
        self.net = net
        self.optimizer = None
        self.begin = 0

    def configure(self):
        self.optimizer = torch.optim.AdamW(self.net.parameters(), lr=3e-4)

    def restore(self, path):
        self.configure()
        kept = torch.load(path, map_location="cpu")
        self.net.load_state_dict(kept["net"])
        self.optimizer.load_state_dict(kept["optimizer"])
        self.begin = kept["step"]

    def fit(self, steps):
        self.configure()
        for step in range(self.begin, steps):
            self.optimizer.zero_grad()
            self.net(torch.randn(4, 8)).mean().backward()
            self.optimizer.step()
            if step % 500 == 0:
                torch.save({"net": self.net.state_dict(), "optimizer": self.optimizer.state_dict(), "step": step}, "a.pt")


if __name__ == "__main__":
    fitter = Fitter(Net())
    if os.path.exists("a.pt"):
        fitter.restore("a.pt")
    fitter.fit(10_000)
