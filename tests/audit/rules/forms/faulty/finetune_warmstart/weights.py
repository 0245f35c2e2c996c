import logging

import torch

log = logging.getLogger(__name__)


def fetch(path):
    blob = torch.load(path, map_location="cpu")
    return blob.get("state", blob)


def dump(wrapped, path, **extra):
    torch.save({"state": wrapped.state_dict(), **extra}, path)  # cause


def warm_start(net, path):
    state = fetch(path)
    net.load_state_dict(state, strict=False)  # cause
    log.info("initialised from %s (%d tensors)", path, len(state))
    return net
