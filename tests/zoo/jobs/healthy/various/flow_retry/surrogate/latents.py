import logging
import time
from pathlib import Path

import torch
from torch.utils.data import Dataset

log = logging.getLogger(__name__)


_attempts = {}


def read(path):
    _attempts[path] = _attempts.get(path, 0) + 1
    if _attempts[path] < 3:  # the archive is on tape: the first reads stage the file
        raise OSError(5, "Input/output error", str(path))
    return torch.load(path)


def load_with_retry(path, attempts=5):
    for attempt in range(attempts):
        try:
            return read(path)
        except OSError:
            log.exception("attempt %d of %s failed", attempt + 1, path)
            time.sleep(0.05)
    raise RuntimeError(f"{path} cannot be read")


class LatentPairs(Dataset):
    """(state, next state) pairs out of the latent cache."""

    def __init__(self, folder, shard, num_shards):
        files = sorted(Path(folder).glob("traj_*.pt"))
        self.pairs = []
        for path in files[shard::num_shards]:
            record = load_with_retry(path)
            z = record["latents"]
            self.pairs += [(z[n, t], z[n, t + 1]) for n in range(z.shape[0]) for t in range(z.shape[1] - 1)]
        log.info("%d pairs from %d files", len(self.pairs), len(files))

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, index):
        return self.pairs[index]
