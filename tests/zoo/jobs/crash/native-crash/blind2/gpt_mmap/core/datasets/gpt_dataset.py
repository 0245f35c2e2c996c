import logging
import os

import numpy as np
import torch
import torch.distributed as dist

logger = logging.getLogger(__name__)


class GPTDataset(torch.utils.data.Dataset):
    """Samples of one epoch; the shuffled order lies in a file that all ranks map."""

    def __init__(self, indexed, cache_dir, name, epochs, seed):
        self.indexed, self.cache_dir, self.name = indexed, cache_dir, name
        self.epochs, self.seed = epochs, seed
        if dist.get_rank() == 0:
            self._build(self.path, epochs)
        dist.barrier()
        self.shuffle_index = np.memmap(self.path, dtype=np.int64, mode="r")

    @property
    def path(self):
        return os.path.join(self.cache_dir, f"{self.name}_shuffle_index.bin")

    def _build(self, path, epochs):
        rng = np.random.default_rng(self.seed)
        order = np.concatenate([rng.permutation(len(self.indexed)) for _ in range(epochs)])
        with open(path, "wb") as f:
            f.write(order.astype(np.int64).tobytes())
        logger.info("> wrote %s, %d samples", os.path.basename(path), len(order))

    def rebuild_for_tail(self, epochs):
        """Called when the token budget shrinks: only the remaining epochs are kept."""
        if dist.get_rank() == 0:
            self._build(self.path, epochs)
        dist.barrier()
        self.epochs = epochs

    def __len__(self):
        return len(self.shuffle_index)

    def __getitem__(self, idx):
        doc = self.indexed.get(int(self.shuffle_index[idx]))
        return torch.from_numpy(np.array(doc, dtype=np.int64))
