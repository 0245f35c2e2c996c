"""Artifacts of a run in a folder, safe to read by all ranks once put() is back."""
from pathlib import Path

import torch.distributed as dist


class Store:
    def __init__(self, root):
        self.root = Path(root)

    def put(self, name, text):
        self.root.mkdir(parents=True, exist_ok=True)
        part = self.root / f".{name}.part"
        part.write_text(text)
        part.replace(self.root / name)
        self._sync()

    def get(self, name):
        return (self.root / name).read_text()

    def _sync(self):
        if dist.is_initialized():
            dist.barrier()
