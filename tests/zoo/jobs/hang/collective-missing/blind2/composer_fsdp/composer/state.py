from dataclasses import dataclass
from typing import Any

from composer import dist_utils


@dataclass
class State:
    model: Any
    optimizer: Any
    max_epochs: int
    epoch: int = 0
    batch: int = 0
    loss: Any = None

    def weight_statistics(self):
        out = {}
        for name, p in self.model.named_parameters():
            if p.ndim == 2:
                out[f"std/{name}"] = round(float(dist_utils.full(p.detach()).std()), 5)
        return out
