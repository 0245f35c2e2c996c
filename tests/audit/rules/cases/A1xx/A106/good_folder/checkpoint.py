import json
import os

import torch


def path_of(directory, kind, step, rank=None):
    suffix = "" if rank is None else f"_rank{rank}"
    return os.path.join(directory, f"{kind}_{step:06d}{suffix}.pt")


def save_checkpoint(directory, step, model_state, optimizer_state, rank):
    os.makedirs(directory, exist_ok=True)
    if rank == 0:
        torch.save(model_state, path_of(directory, "model", step))
        with open(os.path.join(directory, "meta.json"), "w") as file:
            json.dump({"step": step}, file)
    torch.save(optimizer_state, path_of(directory, "optim", step, rank))
