import json
import random
from pathlib import Path

import torch.distributed as dist


class TrialPlan:
    """Rank 0 draws the next trial; the others receive it. None means that the search is over."""

    def __init__(self, path, budget, seed=0):
        self.path = Path(path)
        self.budget = budget
        self.random = random.Random(seed)
        self.results = []

    def _draw(self):
        if len(self.results) >= self.budget:
            return None
        return {"lr": 10 ** self.random.uniform(-4, -2), "width": self.random.choice([128, 256, 512])}

    def next(self):
        if dist.get_rank() == 0:
            box = [self._draw()]
            dist.broadcast_object_list(box, src=0)
        else:
            box = [None]
            dist.broadcast_object_list(box, src=0)
        return box[0]

    def tell(self, trial, score):
        self.results.append({**trial, "score": score})
        if dist.get_rank() == 0:
            self.path.write_text(json.dumps(self.results, indent=1))

    def best(self):
        return min(self.results, key=lambda r: r["score"])
