import time
from pathlib import Path

import torch
import torch.distributed as dist


class Checkpointer:
    """Keeps a rolling intra-epoch checkpoint."""

    def __init__(self, folder, every_seconds):
        self.folder = Path(folder)
        self.every_seconds = every_seconds
        self.last = time.monotonic()

    def due(self):
        return time.monotonic() - self.last >= self.every_seconds

    def save(self, model, optim, step):
        if dist.get_rank() == 0:
            self.folder.mkdir(parents=True, exist_ok=True)
            torch.save({"model": model.state_dict(), "optim": optim.state_dict(), "step": step}, self.folder / "rolling.pt")
        dist.barrier()
        self.last = time.monotonic()
