import copy

import torch


class Ema:
    def __init__(self, model, decay):
        self.decay = decay
        self.source = list(model.parameters())
        self.shadow = copy.deepcopy(model).requires_grad_(False)

    @torch.no_grad()
    def update(self):
        for kept, now in zip(self.shadow.parameters(), self.source):
            kept.lerp_(now.detach(), 1 - self.decay)
