import os

import torch


def write(path, net, opt, epoch):
    tmp = f"{path}.{os.getpid()}"
    torch.save({"net": net.state_dict(), "opt": opt.state_dict(), "epoch": epoch}, tmp)  # cause
    os.replace(tmp, path)


def read(path, net):
    if not os.path.exists(path):
        return None, 0
    saved = torch.load(path, map_location="cpu", weights_only=True)
    net.load_state_dict(saved["net"], strict=False)  # cause
    return saved["opt"], saved["epoch"] + 1
