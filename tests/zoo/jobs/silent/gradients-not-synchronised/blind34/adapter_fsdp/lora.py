import math

import torch
from torch import nn


class LoRALinear(nn.Module):
    def __init__(self, base, rank, alpha, dropout):
        super().__init__()
        self.base = base
        self.scale = alpha / rank
        self.drop = nn.Dropout(dropout)
        self.lora_a = nn.Parameter(torch.empty(rank, base.in_features))
        self.lora_b = nn.Parameter(torch.zeros(base.out_features, rank))
        nn.init.kaiming_uniform_(self.lora_a, a=math.sqrt(5))

    def forward(self, x):
        update = self.drop(x) @ self.lora_a.t() @ self.lora_b.t()
        return self.base(x) + self.scale * update


def get_lora_model(model, targets, rank=4, alpha=8, dropout=0.05):
    for p in model.parameters():
        p.requires_grad_(False)
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            if name in targets and isinstance(child, nn.Linear):
                setattr(module, name, LoRALinear(child, rank, alpha, dropout))
    return model


def lora_state_dict(model):
    return {k: v for k, v in model.state_dict().items() if "lora_" in k}
