import os
import random

import numpy as np
import torch
import torch.distributed as dist


def states():
    return {"python": random.getstate(), "numpy": np.random.get_state(), "torch": torch.get_rng_state()}


def take(found):
    random.setstate(found["python"])
    np.random.set_state(found["numpy"])
    torch.set_rng_state(found["torch"])


def save(model, step, rank):
    if rank == 0:
        torch.save({"model": model.module.state_dict(), "step": step}, "model.pt")
    torch.save(states(), f"rng_{rank}.pt")


def load(model):
    if not os.path.exists("model.pt"):
        return 0
    found = torch.load("model.pt", map_location="cpu")
    model.module.load_state_dict(found["model"])
    drawn = torch.load(f"rng_{dist.get_rank()}.pt", weights_only=False)
    take(drawn)
    return found["step"]
