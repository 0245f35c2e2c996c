import torch


def groups(model, decay):
    no_decay = ["bias", "LayerNorm.weight"]
    return [
        {"params": [p for n, p in model.named_parameters() if n not in no_decay], "weight_decay": decay},
        {"params": [p for n, p in model.named_parameters() if n in no_decay], "weight_decay": 0.0},
    ]


def optimizer_of(model):
    return torch.optim.AdamW(groups(model, 0.01), lr=1e-4)
