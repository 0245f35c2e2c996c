import math

import torch
import torch.nn as nn


class LoRALinear(nn.Module):
    def __init__(self, base, rank, alpha):
        super().__init__()
        self.base = base
        self.lora_A = nn.Parameter(torch.empty(rank, base.in_features))
        self.lora_B = nn.Parameter(torch.zeros(base.out_features, rank))
        nn.init.kaiming_uniform_(self.lora_A, a=math.sqrt(5))
        self.scaling = alpha / rank

    def forward(self, x):
        return self.base(x) + (x @ self.lora_A.t() @ self.lora_B.t()) * self.scaling

    @torch.no_grad()
    def fuse(self):
        self.base.weight += self.scaling * self.lora_B @ self.lora_A
        nn.init.kaiming_uniform_(self.lora_A, a=math.sqrt(5))
        nn.init.zeros_(self.lora_B)


def freeze_components(*components):
    for c in components:
        c.requires_grad_(False)


def apply_lora(component, targets, rank=4, alpha=8, overwrite=False):
    """Wraps the named linear layers of a component; returns how many carry an adapter afterwards."""
    count = 0
    for name, module in list(component.named_modules()):
        for child_name, child in list(module.named_children()):
            if child_name not in targets:
                continue
            if isinstance(child, LoRALinear) and not overwrite:
                count += 1
                continue
            base = child.base if isinstance(child, LoRALinear) else child
            setattr(module, child_name, LoRALinear(base, rank, alpha))
            count += 1
    return count


def load_lora(component, state):
    own = dict(component.named_parameters())
    with torch.no_grad():
        for name, value in state.items():
            own[name].copy_(value)


def lora_state(component):
    return {n: p.detach().clone() for n, p in component.named_parameters() if "lora_" in n}
