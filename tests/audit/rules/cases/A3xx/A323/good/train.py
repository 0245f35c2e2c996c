import torch


def groups(model, weight_decay):
    decay, no_decay = [], []
    for name, parameter in model.named_parameters():
        (no_decay if parameter.ndim < 2 else decay).append(parameter)
    return [{"params": decay, "weight_decay": weight_decay}, {"params": no_decay, "weight_decay": 0.0}]


def optimizer(model):
    return torch.optim.AdamW(groups(model, 0.1), lr=1e-3)
