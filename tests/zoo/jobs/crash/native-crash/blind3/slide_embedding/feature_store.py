import os

import numpy as np
import torch.distributed as dist


class SharedFeatures:
    """One scratch file for the features of the current slide, mapped by every rank."""

    def __init__(self, path, dim):
        self.path, self.dim = path, dim

    def open(self, tiles):
        shape = (tiles, self.dim)
        if dist.get_rank() == 0:
            created = np.memmap(self.path, dtype=np.float32, mode="w+", shape=shape)
            created.flush()
        dist.barrier()
        return np.memmap(self.path, dtype=np.float32, mode="r+", shape=shape)

    def publish(self, features, name, folder):
        np.save(os.path.join(folder, f"{name}.npy"), np.asarray(features))
