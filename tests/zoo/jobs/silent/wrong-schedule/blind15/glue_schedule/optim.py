from dataclasses import dataclass

import torch
from torch.optim.lr_scheduler import LambdaLR


@dataclass
class Plan:
    updates_per_epoch: int
    total: int
    warmup: int


def plan(loader, epochs, accumulate, world, warmup_ratio):
    per_epoch = max(1, len(loader) // (accumulate * world))
    total = per_epoch * epochs
    return Plan(per_epoch, total, int(total * warmup_ratio))


def linear_with_warmup(opt, p):
    def factor(step):
        if step < p.warmup:
            return step / max(1, p.warmup)
        return max(0.0, (p.total - step) / max(1, p.total - p.warmup))
    return LambdaLR(opt, factor)


def parameter_groups(model, decay):
    plain = [w for n, w in model.named_parameters() if w.ndim < 2]
    heavy = [w for n, w in model.named_parameters() if w.ndim >= 2]
    return [{"params": heavy, "weight_decay": decay}, {"params": plain, "weight_decay": 0.0}]


def build(model, loader, cfg, world):
    opt = torch.optim.AdamW(parameter_groups(model, cfg["weight_decay"]), lr=cfg["lr"])
    p = plan(loader, cfg["epochs"], cfg["accumulate"], world, cfg["warmup_ratio"])
    return opt, linear_with_warmup(opt, p), p
