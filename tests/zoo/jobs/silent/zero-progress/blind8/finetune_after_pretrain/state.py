import torch


class TrainState:
    def __init__(self, net, optim):
        self.net, self.optim, self.step = net, optim, 0

    def save(self, path):
        torch.save({"net": self.net.state_dict(), "optim": self.optim.state_dict(), "step": self.step}, path)

    def load(self, path):
        blob = torch.load(path)
        self.net.load_state_dict(blob["net"])
        self.optim.load_state_dict(blob["optim"])
        self.step = blob["step"]
