import os

import torch
import torch.distributed as dist


class Checkpointer:

    def __init__(self, run_dir, keep=2):
        self.run_dir, self.keep = run_dir, keep
        self.saved = []

    def save(self, state, step):
        """All ranks write their own random state, rank 0 writes the model."""
        folder = os.path.join(self.run_dir, f"checkpoint_{step:08d}")
        os.makedirs(folder, exist_ok=True)
        torch.save({"rng": torch.get_rng_state()}, os.path.join(folder, f"rank{dist.get_rank()}.pt"))
        if dist.get_rank() == 0:
            torch.save(state, os.path.join(folder, "model.pt"))
        dist.barrier()
        self.saved.append(folder)
        return folder
