from dataclasses import dataclass

import torch


@dataclass
class Plan:
    epochs: int = 24
    batch: int = 64
    peak: float = 4e-3
    warm: float = 0.3
    decay: float = 0.05


def make_optimizer(net, plan):
    return torch.optim.AdamW(net.parameters(), lr=plan.peak, weight_decay=plan.decay)


def make_schedule(opt, plan, loader):
    per_epoch = len(loader)
    return torch.optim.lr_scheduler.OneCycleLR(
        opt,
        max_lr=plan.peak,
        total_steps=plan.epochs * per_epoch,
        pct_start=plan.warm,
    )
