import math
from pathlib import Path

import torch
import torch.distributed as dist


class BestModel:
    def __init__(self, folder):
        self.path = Path(folder) / "best.pt"
        self.score = math.inf
        if dist.get_rank() == 0:
            self.path.parent.mkdir(parents=True, exist_ok=True)

    def offer(self, score, model):
        if score >= self.score:
            return False
        self.score = score
        if dist.get_rank() == 0:
            torch.save(model.module.state_dict(), self.path)  # cause
        return True

    def reload(self, model):
        state = torch.load(self.path, map_location="cpu")  # cause
        model.module.load_state_dict(state)
        return model
