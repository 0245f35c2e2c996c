import os
from pathlib import Path

import torch
import torch.distributed as dist
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict


def is_chief():
    return dist.get_rank() == 0


class Exporter:
    def __init__(self, root, every):
        self.root = Path(root)
        self.every = every

    def collect(self, model):
        options = StateDictOptions(full_state_dict=True, cpu_offload=True)
        return get_model_state_dict(model, options=options)  # cause

    def write(self, tensors, step):
        self.root.mkdir(parents=True, exist_ok=True)
        part = self.root / f"weights_{step:07d}.pt.part"
        torch.save(tensors, part)
        os.replace(part, self.root / f"weights_{step:07d}.pt")

    def maybe_export(self, model, step):
        if step == 0 or step % self.every:
            return
        if not is_chief():  # cause
            return
        self.write(self.collect(model), step)  # cause
