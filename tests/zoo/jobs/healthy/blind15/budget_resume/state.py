import os

import torch


def load(path, model, opt, sched):
    if not os.path.exists(path):
        return 0, 0
    s = torch.load(path)
    model.load_state_dict(s["model"])
    opt.load_state_dict(s["opt"])
    sched.load_state_dict(s["sched"])
    return s["epoch"], s["offset"]


def save(path, model, opt, sched, epoch, offset):
    torch.save({"model": model.state_dict(), "opt": opt.state_dict(), "sched": sched.state_dict(),
                "epoch": epoch, "offset": offset}, path + ".part")
    os.replace(path + ".part", path)
