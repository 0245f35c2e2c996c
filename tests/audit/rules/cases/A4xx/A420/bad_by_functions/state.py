import os

import torch


def read_state(path, model, opt):
    if not os.path.exists(path):
        return 0
    found = torch.load(path, map_location="cpu")
    model.load_state_dict(found["model"])
    opt.load_state_dict(found["opt"])
    return found["epoch"] + 1


def write_state(path, model, opt, epoch):
    torch.save({"model": model.state_dict(), "opt": opt.state_dict(), "epoch": epoch}, path)
