import torch

SKIPPED = (".bias", "norm")


def optimizer_of(model, decay):
    decayed, kept = [], []
    for name, parameter in model.named_parameters():
        if any(name in part for part in SKIPPED):
            kept.append(parameter)
        else:
            decayed.append(parameter)
    return torch.optim.AdamW([{"params": decayed, "weight_decay": decay}, {"params": kept, "weight_decay": 0.0}])
