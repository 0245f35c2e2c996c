from pathlib import Path
import torch


class Checkpointer:
    def __init__(self, folder, env):
        self.folder, self.env = Path(folder), env

    def __call__(self, step, **parts):
        if not self.env.is_first:  # cause
            return
        torch.save({name: part.state_dict() for name, part in parts.items()}, self.folder / f"{step}.pt")  # cause
