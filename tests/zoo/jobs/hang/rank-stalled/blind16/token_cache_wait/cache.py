import os
import time

import torch


def digest(cfg):
    return "-".join(f"{k}{v}" for k, v in cfg.items())


def build_or_wait(root, cfg, rank, builder):
    cfg = dict(cfg)
    if rank == 0:
        cfg.pop("workers", None)
        path = os.path.join(root, digest(cfg) + ".pt")
        if not os.path.exists(path):
            os.makedirs(root, exist_ok=True)
            torch.save(builder(), path + ".tmp")
            os.replace(path + ".tmp", path)
    else:
        path = os.path.join(root, digest(cfg) + ".pt")
        while not os.path.exists(path):
            time.sleep(0.5)
    return torch.load(path)
