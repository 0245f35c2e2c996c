import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from schedule import CosineRate


class Session:
    def __init__(self, total, lr=0.05):
        torch.manual_seed(0)
        self.model = DDP(nn.Sequential(nn.Linear(128, 768), nn.ReLU(), nn.Linear(768, 768), nn.ReLU(), nn.Linear(768, 16)))
        self.opt = torch.optim.SGD(self.model.parameters(), lr=lr, momentum=0.9)
        self.rate = CosineRate(self.opt, lr, total)
        self.step_no = 0

    def save(self, path):
        torch.save({"model": self.model.state_dict(), "opt": self.opt.state_dict(), "rate": self.rate.state_dict(),
                    "step": self.step_no}, path)

    def restore(self, path):
        state = torch.load(path)
        self.model.load_state_dict(state["model"])
        self.opt.load_state_dict(state["opt"])
        self.rate.load_state_dict(state["rate"])
        self.step_no = state["step"]

    def advance(self, x, y):
        self.rate.step()
        self.opt.zero_grad()
        loss = nn.functional.cross_entropy(self.model(x), y)
        loss.backward()
        self.opt.step()
        self.step_no += 1
        return loss.item()
