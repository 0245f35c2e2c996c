import copy

import torch


class Smoothed:
    """Keeps a smoothed copy of a network."""

    def __init__(self, net, keep=0.999):
        self.copy = copy.deepcopy(net).eval()
        for one in self.copy.parameters():
            one.requires_grad_(False)
        self.keep = keep

    @torch.no_grad()
    def follow(self, net):
        for mine, theirs in zip(self.copy.parameters(), net.parameters()):
            mine.mul_(self.keep).add_(theirs, alpha=1 - self.keep)
        for mine, theirs in zip(self.copy.buffers(), net.buffers()):
            mine.copy_(theirs)

    def predict(self, x):
        return self.copy(x)

    def state_dict(self):
        return self.copy.state_dict()
