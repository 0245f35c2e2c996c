"""The learning rate as a pure function of the step, and which weights are decayed."""

from __future__ import annotations

import math

import torch
from torch import nn

from ups.config import StageConfig


def learning_rate(step: int, total_steps: int, config: StageConfig) -> float:
    """Returns the rate of step `step` (from 0): a linear warm-up, then half a cosine down to min_lr_ratio."""
    warmup = round(config.warmup_fraction * total_steps)
    if step < warmup:
        return config.lr * (step + 1) / warmup
    progress = (step - warmup) / max(1, total_steps - warmup)
    low = config.min_lr_ratio
    return config.lr * (low + (1 - low) * 0.5 * (1 + math.cos(math.pi * min(1.0, progress))))


def make_optimizer(module: nn.Module, config: StageConfig) -> torch.optim.AdamW:
    """Returns AdamW over the trainable weights; norms, biases and scalars are not decayed."""
    weights = [value for value in module.parameters() if value.requires_grad]
    groups = [
        {"params": [value for value in weights if value.ndim >= 2], "weight_decay": config.weight_decay},
        {"params": [value for value in weights if value.ndim < 2], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW([group for group in groups if group["params"]], lr=config.lr, betas=(0.9, 0.95))
