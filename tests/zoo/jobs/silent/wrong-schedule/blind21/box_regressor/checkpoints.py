import os

import torch


def save(path, model, optimizer, epoch, best):
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch, "best": best}
    torch.save(state, path + ".tmp")
    os.replace(path + ".tmp", path)


def restore(path, model, optimizer):
    """Loads weights and optimizer; returns the epoch to go on with and the best score so far."""
    if not os.path.exists(path):
        return 0, float("inf")
    state = torch.load(path, map_location="cpu", weights_only=True)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    return state["epoch"] + 1, state["best"]
