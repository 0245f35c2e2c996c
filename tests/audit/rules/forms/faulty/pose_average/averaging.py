import copy

import torch


class Ema:
    def __init__(self, module, decay=0.999):
        self.decay = decay
        self.module = copy.deepcopy(module).eval()
        self.module.requires_grad_(False)
        self.updates = 0

    @torch.no_grad()
    def update(self, module):
        self.updates += 1
        d = min(self.decay, (1 + self.updates) / (10 + self.updates))
        for avg, cur in zip(self.module.parameters(), module.parameters()):
            avg.lerp_(cur, 1 - d)
        for avg, cur in zip(self.module.buffers(), module.buffers()):
            avg.copy_(cur)
