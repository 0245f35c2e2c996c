import json
import logging
import os
from pathlib import Path

import torch
import torch.distributed as dist


def rank_logger(root):
    log = logging.getLogger("run")
    log.setLevel(logging.INFO)
    handler = logging.FileHandler(Path(root) / f"rank{dist.get_rank():04d}.log")
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    log.addHandler(handler)
    return log


class RankStore:
    """Optimizer moments, RNG and data position differ by rank: each keeps its own file."""

    def __init__(self, root):
        self.root = Path(root)
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.root.mkdir(parents=True, exist_ok=True)

    def _file(self, step, rank):
        return self.root / f"{step:08d}.{rank:04d}-of-{self.world:04d}.pt"

    def save(self, step, state):
        target = self._file(step, self.rank)
        part = target.with_suffix(".tmp")
        torch.save(state, part)
        os.replace(part, target)
        dist.barrier()
        if self.rank == 0:
            (self.root / "latest.json.tmp").write_text(json.dumps({"step": step, "world": self.world}))
            os.replace(self.root / "latest.json.tmp", self.root / "latest.json")

    def load(self):
        index = self.root / "latest.json"
        box = [json.loads(index.read_text()) if self.rank == 0 and index.exists() else None]
        dist.broadcast_object_list(box, src=0)
        if box[0] is None:
            return None
        if box[0]["world"] != self.world:
            raise RuntimeError(f"saved with {box[0]['world']} ranks, running with {self.world}")
        return torch.load(self._file(box[0]["step"], self.rank), map_location="cpu", weights_only=True)
