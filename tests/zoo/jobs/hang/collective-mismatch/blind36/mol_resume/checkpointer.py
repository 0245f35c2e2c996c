"""Checkpoints of model, optimizer and data position."""
import logging
import re
from pathlib import Path

import torch
import torch.distributed as dist

log = logging.getLogger("train")


def barrier():
    if dist.is_initialized():
        dist.barrier()


class Checkpointer:
    def __init__(self, folder):
        self.folder = Path(folder)

    def latest(self):
        found = [(int(m.group(1)), p) for p in self.folder.glob("step*") if (m := re.fullmatch(r"step(\d+)", p.name))]
        return max(found)[1] if found else None

    def save(self, step, model, optimizer):
        path = self.folder / f"step{step}"
        if dist.get_rank() == 0:
            path.mkdir(parents=True, exist_ok=True)
            torch.save(model.state_dict(), path / "model.pt")
            torch.save({"step": step, "optimizer": optimizer.state_dict()}, path / "train.pt")
        barrier()
        return path

    def restore(self, path, model, optimizer):
        barrier()
        model.load_state_dict(torch.load(path / "model.pt"))
        state = torch.load(path / "train.pt")
        optimizer.load_state_dict(state["optimizer"])
        barrier()
        return state["step"]
