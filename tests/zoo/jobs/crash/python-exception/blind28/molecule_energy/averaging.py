import copy

import torch


class WeightAverage:
    """Exponential moving average of the weights, for evaluation."""

    def __init__(self, model, decay=0.99):
        self.decay = decay
        self.model = copy.deepcopy(model).requires_grad_(False).eval()

    @torch.no_grad()
    def update(self, model, step):
        decay = min(self.decay, (1 + step) / (10 + step))
        for average, current in zip(self.model.parameters(), model.parameters()):
            average.mul_(decay).add_(current, alpha=1 - decay)
        for average, current in zip(self.model.buffers(), model.buffers()):
            average.copy_(current)
