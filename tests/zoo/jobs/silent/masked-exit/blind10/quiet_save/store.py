import os
from concurrent.futures import ThreadPoolExecutor

import torch


class Store:
    """Writes checkpoints beside the training, so that no step waits for the disk."""

    def __init__(self, folder):
        self.folder = folder
        self.pool = ThreadPoolExecutor(max_workers=1)

    def _write(self, state, name):
        part = os.path.join(self.folder, name + ".part")
        torch.save(state, part)
        os.replace(part, os.path.join(self.folder, name))

    def put(self, state, name):
        self.pool.submit(self._write, state, name)

    def close(self):
        self.pool.shutdown(wait=True)
