import logging
from pathlib import Path

import torch
from torch.utils.data import Dataset

log = logging.getLogger(__name__)


class LatentPairs(Dataset):
    """(state, next state) pairs out of the latent cache."""

    def __init__(self, folder, shard, num_shards):
        files = sorted(Path(folder).glob("traj_*.pt"))
        self.pairs = []
        for path in files[shard::num_shards]:
            record = torch.load(path)
            z = record["latents"]
            self.pairs += [(z[n, t], z[n, t + 1]) for n in range(z.shape[0]) for t in range(z.shape[1] - 1)]
        log.info("%d pairs from %d files", len(self.pairs), len(files))

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, index):
        return self.pairs[index]
