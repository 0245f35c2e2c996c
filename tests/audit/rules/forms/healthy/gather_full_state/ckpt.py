import os
from pathlib import Path

import torch
import torch.distributed as dist
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict


class FullCheckpointer:
    def __init__(self, directory, keep=3):
        self.dir = Path(directory)
        self.keep = keep
        self.saved = []
        self.options = StateDictOptions(full_state_dict=True, cpu_offload=True)

    def _prune(self):
        while len(self.saved) > self.keep:
            self.saved.pop(0).unlink(missing_ok=True)

    def _write(self, state, step):
        self.dir.mkdir(parents=True, exist_ok=True)
        target = self.dir / f"model_{step:07d}.pt"
        tmp = target.with_suffix(".tmp")
        torch.save({"step": step, "model": state}, tmp)
        os.replace(tmp, target)
        self.saved.append(target)
        self._prune()

    def save(self, model, step):
        state = get_model_state_dict(model, options=self.options)
        if dist.get_rank() != 0:
            return
        self._write(state, step)
