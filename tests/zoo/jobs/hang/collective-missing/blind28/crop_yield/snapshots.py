import os
from pathlib import Path

import torch


class Snapshots:
    """Snapshots on the node's own scratch disk, one folder a local rank."""

    def __init__(self, root, rank, keep=2):
        self.folder = Path(root) / f"rank{rank}"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.keep = keep

    def write(self, epoch, **state):
        target = self.folder / f"epoch{epoch:03d}.pt"
        torch.save({"epoch": epoch, **state}, target.with_suffix(".part"))
        os.replace(target.with_suffix(".part"), target)
        for old in sorted(self.folder.glob("epoch*.pt"))[: -self.keep]:
            old.unlink()

    def latest(self):
        found = sorted(self.folder.glob("epoch*.pt"))
        return torch.load(found[-1], weights_only=True) if found else None

    def clear(self):
        for old in self.folder.glob("epoch*.pt"):
            old.unlink()
