import json
import os
from pathlib import Path

import torch
import torch.distributed as dist


class BandStatistics:
    """Per-band mean and deviation of the tiles, kept on the node's scratch disk."""

    def __init__(self, scratch, version):
        self.path = Path(scratch) / "band_stats.json"
        self.version = version

    def _load(self):
        if not self.path.exists():
            return None
        doc = json.loads(self.path.read_text())
        return doc if doc.get("version") == self.version else None

    def get(self, tiles):
        doc = self._load()
        if doc is None:
            doc = self._measure(tiles)
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_text(json.dumps(doc))
        return torch.tensor(doc["mean"]), torch.tensor(doc["std"])

    def _measure(self, tiles):
        acc = torch.zeros(3, tiles.shape[1], dtype=torch.float64)
        for t in tiles.split(16):
            acc[0] += t.double().sum((0, 2, 3))
            acc[1] += t.double().pow(2).sum((0, 2, 3))
            acc[2] += t[:, 0].numel()
        dist.all_reduce(acc)
        mean = acc[0] / acc[2]
        std = (acc[1] / acc[2] - mean ** 2).clamp_min(1e-12).sqrt()
        return {"version": self.version, "mean": mean.tolist(), "std": std.tolist()}
