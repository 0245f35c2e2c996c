import os
from pathlib import Path

import torch
import torch.distributed as dist
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict


def primary():
    return dist.get_rank() == 0


class Checkpointer:
    def __init__(self, folder, keep=3):
        self.folder = Path(folder)
        self.keep = keep
        if primary():
            self.folder.mkdir(parents=True, exist_ok=True)

    def _collect(self, model):
        opts = StateDictOptions(full_state_dict=True, cpu_offload=True)
        return get_model_state_dict(model, options=opts)

    def _prune(self):
        old = sorted(self.folder.glob("step-*.pt"))[:-self.keep]
        for path in old:
            path.unlink()

    def write(self, model, step):
        state = self._collect(model)
        if primary():
            tmp = self.folder / f".step-{step:07d}.tmp"
            torch.save({"model": state, "step": step}, tmp)
            os.replace(tmp, self.folder / f"step-{step:07d}.pt")
            self._prune()
        dist.barrier()
