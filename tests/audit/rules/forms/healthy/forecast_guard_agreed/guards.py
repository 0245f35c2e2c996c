from collections import deque

import torch


class SpikeGuard:
    def __init__(self, window=50, factor=4.0):
        self.recent = deque(maxlen=window)
        self.factor = factor
        self.rejected = 0

    def bad(self, loss):
        value = loss.detach()
        if not torch.isfinite(value):
            return True
        if len(self.recent) == self.recent.maxlen:
            limit = self.factor * sum(self.recent) / len(self.recent)
            if value.item() > limit:
                return True
        self.recent.append(value.item())
        return False
