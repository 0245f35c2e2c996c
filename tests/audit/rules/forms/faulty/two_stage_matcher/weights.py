import logging

import torch

log = logging.getLogger("weights")


def save_weights(model, path):
    torch.save(model.state_dict(), path)  # cause


def load_weights(module, path):
    state = torch.load(path, map_location="cpu", weights_only=True)
    module.load_state_dict(state, strict=False)  # cause
    log.info("restored %d tensors from %s", len(state), path)
    return module
