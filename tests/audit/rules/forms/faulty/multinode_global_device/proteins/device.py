import os

import torch
import torch.distributed as dist


def pick_device():
    if not torch.cuda.is_available():
        return torch.device("cpu")
    index = dist.get_rank()  # cause
    torch.cuda.set_device(index)  # cause
    return torch.device("cuda", index)


def backend():
    return os.environ.get("DIST_BACKEND", "nccl" if torch.cuda.is_available() else "gloo")
