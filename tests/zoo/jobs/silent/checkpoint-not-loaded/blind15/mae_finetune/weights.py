import logging

import torch

log = logging.getLogger("weights")


def save(model, path):
    torch.save({"state_dict": model.state_dict(), "arch": type(model).__name__}, path)


def init_from(model, path):
    """Take over what fits from a pretraining checkpoint; heads keep their own values."""
    source = torch.load(path)["state_dict"]
    own = model.state_dict()
    taken = {k: v for k, v in source.items() if k in own and v.shape == own[k].shape}
    own.update(taken)
    model.load_state_dict(own)
    log.info("initialised from %s", path)
    return model
