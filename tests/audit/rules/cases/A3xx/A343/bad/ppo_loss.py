import math

import torch
from torch import nn


class ClipPPOLoss(nn.Module):
    def __init__(self, actor, eps=0.2, normalize=True):
        super().__init__()
        self.actor, self.eps, self.normalize = actor, eps, normalize

    @property
    def _bounds(self):
        return math.log1p(-self.eps), math.log1p(self.eps)

    def forward(self, batch):
        log_weight = self.actor(batch["obs"]).log_prob(batch["action"]) - batch["log_prob"]
        advantage = batch["advantage"]

        gain1 = log_weight.exp() * advantage

        if self.normalize and advantage.numel() > 1:
            loc = advantage.mean()
            scale = advantage.std().clamp_min(1e-6)
            advantage = (advantage - loc) / scale
        gain2 = log_weight.clamp(*self._bounds).exp() * advantage

        gain = torch.stack([gain1, gain2], -1).min(dim=-1)[0]
        return -gain.mean()
