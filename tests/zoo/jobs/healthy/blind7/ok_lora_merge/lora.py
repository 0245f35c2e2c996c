import math

import torch
from torch import nn


class LoRALinear(nn.Module):
    def __init__(self, base, r=4, alpha=8):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.lora_A = nn.Parameter(torch.empty(r, base.in_features))
        self.lora_B = nn.Parameter(torch.zeros(base.out_features, r))
        nn.init.kaiming_uniform_(self.lora_A, a=math.sqrt(5))
        self.scaling, self.merged = alpha / r, False

    def delta(self):
        return self.scaling * self.lora_B @ self.lora_A

    def train(self, mode=True):
        super().train(mode)
        if mode == self.merged:
            with torch.no_grad():
                self.base.weight.add_(self.delta(), alpha=-1 if mode else 1)
            self.merged = not mode
        return self

    def forward(self, x):
        y = self.base(x)
        return y if self.merged else y + self.scaling * (x @ self.lora_A.t()) @ self.lora_B.t()


def inject(model, names):
    for parent in list(model.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, nn.Linear) and name in names:
                setattr(parent, name, LoRALinear(child))


def lora_state_dict(model):
    return {k: v for k, v in model.state_dict().items() if "lora_" in k}
