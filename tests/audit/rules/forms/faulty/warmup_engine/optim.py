import math

import torch
from torch.optim.lr_scheduler import LambdaLR


def param_groups(model, weight_decay):
    decay, plain = [], []
    for p in model.parameters():
        (decay if p.ndim >= 2 else plain).append(p)
    return [{"params": decay, "weight_decay": weight_decay}, {"params": plain, "weight_decay": 0.0}]


def warmup_cosine(optimizer, warmup, total):
    def scale(step):
        if step < warmup:
            return (step + 1) / warmup
        t = min(1.0, (step - warmup) / max(1, total - warmup))
        return 0.1 + 0.9 * 0.5 * (1 + math.cos(math.pi * t))

    return LambdaLR(optimizer, scale)


def build(model, cfg, batches_per_epoch):
    updates = cfg.epochs * (batches_per_epoch // cfg.accum)  # cause
    opt = torch.optim.AdamW(param_groups(model, cfg.weight_decay), lr=cfg.lr)
    return opt, warmup_cosine(opt, int(cfg.warmup * updates), updates)
