import torch


def build_optimizer(model, lr, weight_decay):
    decay, plain = [], []
    for name, p in model.named_parameters():
        (plain if p.ndim == 1 or name.endswith("positions") else decay).append(p)
    return torch.optim.AdamW([{"params": decay, "weight_decay": weight_decay}, {"params": plain, "weight_decay": 0.0}], lr=lr)


def build_scheduler(optimizer, options):
    return torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, **options)
