import logging

import torch

log = logging.getLogger(__name__)


def load_pretrained(model, path, prefix="model."):
    """Takes over what fits; heads differ from task to task and are left as they are."""
    stored = torch.load(path, map_location="cpu")
    stored = stored.get("state_dict", stored)
    own = model.state_dict()
    cut = len(prefix)
    fitting = {k[cut:]: v for k, v in stored.items() if k[cut:] in own and v.shape == own[k[cut:]].shape}
    own.update(fitting)
    model.load_state_dict(own)
    log.debug("%d of %d tensors from %s", len(fitting), len(stored), path)
    return model


def freeze(module):
    for parameter in module.parameters():
        parameter.requires_grad_(False)
    return module
