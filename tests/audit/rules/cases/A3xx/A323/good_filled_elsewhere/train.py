import torch


def groups(model, weight_decay, split):
    decay, no_decay, rest = [], [], []
    split(model, decay, no_decay)
    rest += [parameter for parameter in model.head.parameters()]
    return [
        {"params": decay, "weight_decay": weight_decay},
        {"params": no_decay, "weight_decay": 0.0},
        {"params": rest, "weight_decay": 0.0},
    ]


def optimizer(model, split):
    return torch.optim.AdamW(groups(model, 0.1, split), lr=1e-3)
