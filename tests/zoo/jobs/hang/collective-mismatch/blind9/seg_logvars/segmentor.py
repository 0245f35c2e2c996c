from collections import OrderedDict

import torch
import torch.distributed as dist
from torch import nn

HEADS = {}


def register(cls):
    HEADS[cls.__name__] = cls
    return cls


@register
class RoiHead(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.cls = nn.Linear(dim, 2)

    def losses(self, x, y):
        logits = self.cls(x)
        out = OrderedDict(loss_cls=nn.functional.cross_entropy(logits, y))
        pos = y == 1
        if pos.any():
            out["acc_pos"] = (logits[pos].argmax(-1) == 1).float().mean()
        return out


class Segmentor(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(8, cfg["dim"]), nn.ReLU())
        self.head = HEADS[cfg["head"]](cfg["dim"])

    def forward(self, x, y):
        return self.head.losses(self.backbone(x), y)


def parse_losses(losses):
    loss = sum(v for k, v in losses.items() if "loss" in k)
    log_vars = OrderedDict(losses, loss=loss)
    for name, value in log_vars.items():
        value = value.data.clone()
        dist.reduce(value.div_(dist.get_world_size()), dst=0)
        log_vars[name] = value.item()
    return loss, log_vars
