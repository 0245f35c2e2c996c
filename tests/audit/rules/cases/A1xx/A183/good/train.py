import torch
from torch import nn


def groups(model, decay):
    no_decay = ["bias", "LayerNorm.weight"]
    return [
        {"params": [p for n, p in model.named_parameters() if not any(d in n for d in no_decay)], "weight_decay": decay},
        {"params": [p for n, p in model.named_parameters() if any(d in n for d in no_decay)], "weight_decay": 0.0},
    ]


def of_layers(model, decay):
    """Each layer's own names are no full ones."""
    decayed, kept = [], []
    for layer in model.modules():
        for name, parameter in layer.named_parameters(recurse=False):
            (kept if name in ("bias", "gain") or isinstance(layer, nn.LayerNorm) else decayed).append(parameter)
    return [{"params": decayed, "weight_decay": decay}, {"params": kept, "weight_decay": 0.0}]


def of_tables(model, decay):
    skipped = {"cls_token", "pos_embed"}
    kept = [p for n, p in model.named_parameters() if n in skipped or n.endswith(".bias")]
    return torch.optim.AdamW([{"params": kept, "weight_decay": 0.0}, {"params": [], "weight_decay": decay}])


def init(model):
    for layer in model.children():
        for name, parameter in layer.named_parameters():
            if name in ["bias"]:
                nn.init.zeros_(parameter)
    return {"params": [], "weight_decay": 0.0}
