import os

import torch


class CheckpointManager:
    def __init__(self, folder, keep=2):
        self.folder = folder
        self.keep = keep
        self.saved = []
        os.makedirs(folder, exist_ok=True)

    def save(self, step, model, optimizer):
        if hasattr(optimizer, "consolidate_state_dict"):
            optimizer.consolidate_state_dict(to=0)
        path = os.path.join(self.folder, f"step{step:06d}.pt")
        torch.save({"model": model.module.state_dict(), "optim": optimizer.state_dict(), "step": step}, path)
        self.saved.append(path)
        while len(self.saved) > self.keep:
            os.remove(self.saved.pop(0))
        return path
