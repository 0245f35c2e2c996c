import json
import os
from pathlib import Path

import torch
import torch.distributed as dist
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict


class Keeper:
    def __init__(self, folder, every=500, keep=3):
        self.folder, self.every, self.keep = Path(folder), every, keep
        self.chief = dist.get_rank() == 0
        self.saved = []

    def due(self, step):
        return step > 0 and step % self.every == 0

    def save(self, model, step, meta):
        if not self.chief:  # cause
            return  # cause
        options = StateDictOptions(full_state_dict=True, cpu_offload=True)
        weights = get_model_state_dict(model, options=options)  # cause
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"step{step:07d}.pt"
        torch.save(weights, path.with_suffix(".tmp"))
        os.replace(path.with_suffix(".tmp"), path)
        path.with_suffix(".json").write_text(json.dumps(meta))
        self.saved.append(path)
        for old in self.saved[: -self.keep]:
            old.unlink(missing_ok=True)
        self.saved = self.saved[-self.keep :]
