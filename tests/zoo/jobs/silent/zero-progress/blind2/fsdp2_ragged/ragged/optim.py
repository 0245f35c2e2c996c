import torch


def param_groups(model, weight_decay):
    decay, rest = [], []
    for p in model.parameters():
        (decay if p.ndim >= 2 else rest).append(p)
    return [{"params": decay, "weight_decay": weight_decay}, {"params": rest, "weight_decay": 0.0}]


def create_optimizer(model, cfg):
    optimizer = torch.optim.AdamW(param_groups(model, cfg.weight_decay), lr=cfg.lr)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1.0, (s + 1) / cfg.warmup))
    return optimizer, scheduler
