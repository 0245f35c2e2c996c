import math

import torch
import yaml
from torch.nn.parallel import DistributedDataParallel

from networks import CallNet


def merge(base, other):
    for key, value in other.items():
        base[key] = merge(base.get(key, {}), value) if isinstance(value, dict) else value
    return base


def read(*paths):
    config = {}
    for path in paths:
        with open(path) as handle:
            merge(config, yaml.safe_load(handle) or {})
    return config


def make_optimizer(model, optim):
    kinds = {"adamw": torch.optim.AdamW, "sgd": torch.optim.SGD}
    matrices = [p for p in model.parameters() if p.ndim > 1]
    vectors = [p for p in model.parameters() if p.ndim < 2]
    groups = [{"params": matrices, "weight_decay": optim["weight_decay"]}, {"params": vectors, "weight_decay": 0.0}]
    return kinds[optim["name"]](groups, lr=optim["lr"])


def make_schedule(optimizer, optim, total):
    def factor(step):
        if step < optim["warmup"]:
            return (step + 1) / optim["warmup"]
        return 0.1 + 0.45 * (1 + math.cos(math.pi * (step - optim["warmup"]) / max(1, total - optim["warmup"])))
    return torch.optim.lr_scheduler.LambdaLR(optimizer, factor)


def build(config, total):
    shape = config["model"]
    model = CallNet(shape["bands"], shape["width"], shape["species"])
    optimizer = make_optimizer(model, config["optim"])
    schedule = make_schedule(optimizer, config["optim"], total)
    if shape.get("adapt_to"):
        model.adapt(shape["adapt_to"])
    return DistributedDataParallel(model), optimizer, schedule
