import os

import torch
import torch.distributed as dist


def save(path, model, optimizer, step):
    """Called by all ranks; the file is complete when it returns."""
    dist.barrier()
    if dist.get_rank() == 0:
        tmp = path + ".tmp"
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, tmp)
        os.replace(tmp, path)
    dist.barrier()


def resume(path, model, optimizer):
    if not os.path.exists(path):
        return 0
    state = torch.load(path, map_location="cpu")
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    return state["step"]
