import hashlib
import json
import os

import torch

from histo.locking import exclusive


class ArtifactCache:
    """Keeps what is costly to compute under a key made of the settings."""

    def __init__(self, root):
        self.root = root

    def _path(self, name, settings):
        digest = hashlib.sha1(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:12]
        return os.path.join(self.root, f"{name}-{digest}.pt")

    def get(self, name, settings, compute):
        path = self._path(name, settings)
        with exclusive(path + ".lock"):
            if os.path.exists(path):
                return torch.load(path)
            value = compute()
            torch.save(value, path)
            return value
