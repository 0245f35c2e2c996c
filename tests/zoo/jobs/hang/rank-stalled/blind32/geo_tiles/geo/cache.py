import logging
import os

import numpy as np

from geo.locks import file_lock
from geo.scenes import SCENES, cut, path_of, render

log = logging.getLogger("geo.cache")


def build(cache):
    """Makes what is missing. Safe to call from several jobs at the same time."""
    os.makedirs(cache, exist_ok=True)
    for name in SCENES:
        target = path_of(cache, name)
        if os.path.exists(target):
            continue
        with file_lock(target + ".lock"):
            if os.path.exists(target):
                continue
            tiles = cut(render(name))
            tmp = target + ".tmp"
            with open(tmp, "wb") as f:
                np.save(f, tiles)
            os.replace(tmp, target)
            log.info("%s: %d tiles", name, len(tiles))


def load(cache):
    return np.concatenate([np.load(path_of(cache, name)) for name in SCENES])
