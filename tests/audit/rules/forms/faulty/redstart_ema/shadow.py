import copy

import torch


class Shadow:
    def __init__(self, net, decay=0.999):
        self.model = copy.deepcopy(net).eval()
        self.model.requires_grad_(False)
        self.decay = decay
        self.updates = 0

    @torch.no_grad()
    def update(self, net):  # cause
        self.updates += 1
        keep = min(self.decay, (1 + self.updates) / (10 + self.updates))
        for mine, theirs in zip(self.model.parameters(), net.parameters()):  # cause
            mine.lerp_(theirs, 1.0 - keep)  # cause

    def state_dict(self):
        return {"model": self.model.state_dict(), "updates": self.updates}
