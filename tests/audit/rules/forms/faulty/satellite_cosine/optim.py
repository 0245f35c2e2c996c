from dataclasses import dataclass

import torch


@dataclass
class OptimConfig:
    name: str = "sgd"
    lr: float = 0.1
    weight_decay: float = 5e-5
    epochs: int = 90
    eta_min: float = 1e-5


def split_decay(model):
    decay, plain = [], []
    for p in model.parameters():
        (plain if p.ndim < 2 else decay).append(p)
    return decay, plain


def configure(model, cfg: OptimConfig):
    decay, plain = split_decay(model)
    groups = [{"params": decay, "weight_decay": cfg.weight_decay}, {"params": plain, "weight_decay": 0.0}]
    if cfg.name == "sgd":
        opt = torch.optim.SGD(groups, lr=cfg.lr, momentum=0.9, nesterov=True)
    else:
        opt = torch.optim.AdamW(groups, lr=cfg.lr)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=cfg.epochs, eta_min=cfg.eta_min)  # cause
    return opt, sched
