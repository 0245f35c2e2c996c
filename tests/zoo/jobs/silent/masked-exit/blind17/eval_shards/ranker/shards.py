from pathlib import Path

import torch


class ShardSet:
    """Even parts train, odd parts are held out; each rank reads its own."""

    def __init__(self, root, rank, world):
        self.root, self.rank, self.world = Path(root), rank, world

    def path(self, held_out):
        return self.root / f"part-{2 * self.rank + int(held_out):02d}.pt"

    def train(self):
        part = torch.load(self.path(False))
        return part["x"], part["y"]

    def held_out(self):
        part = torch.load(self.path(True))
        return part["x"], part["y"]
