import torch


def optimizer_of(model, split):
    decay, no_decay = [], []
    for param in model.parameters():
        (no_decay if param.ndim < 2 else decay).append(param)
    return torch.optim.AdamW(model.parameters(), lr=0.1)


def groups_of(model, split):
    head, rest = [], []
    for name, param in model.named_parameters():
        if "head" in name:
            head.append(param)
        else:
            rest.append(param)
    if split:
        groups = [{"params": head, "lr": 0.1}, {"params": rest}]
    else:
        groups = [{"params": head + rest}]
    return groups
