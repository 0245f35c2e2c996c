import os

import torch


def pick_device():
    if not torch.cuda.is_available():
        return torch.device("cpu")
    index = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(index)
    return torch.device("cuda", index)


def backend():
    return os.environ.get("DIST_BACKEND", "nccl" if torch.cuda.is_available() else "gloo")
