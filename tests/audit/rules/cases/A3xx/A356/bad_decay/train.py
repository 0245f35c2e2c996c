import torch


def optimizer_of(model, lr):
    decay, no_decay = [], []
    for param in model.parameters():
        (no_decay if param.ndim < 2 else decay).append(param)
    return torch.optim.AdamW([{"params": decay, "weight_decay": 0.1}], lr=lr)
