import os

import torch


def ready(path):
    return os.path.exists(path)


def write_data(path):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    g = torch.Generator().manual_seed(0)
    torch.save(torch.randn(320, 7, generator=g), path + ".part")
    os.replace(path + ".part", path)
