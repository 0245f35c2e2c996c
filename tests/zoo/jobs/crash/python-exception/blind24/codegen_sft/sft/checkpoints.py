import os
import shutil

import torch


class Keeper:
    def __init__(self, root, keep=2):
        self.root, self.keep, self.steps = root, keep, []
        os.makedirs(root, exist_ok=True)

    def save(self, model, step):
        folder = os.path.join(self.root, f"checkpoint-{step}")
        os.makedirs(folder, exist_ok=True)
        torch.save(model.state_dict(), os.path.join(folder, "model.pt"))
        self.steps.append(step)
        while len(self.steps) > self.keep:
            shutil.rmtree(os.path.join(self.root, f"checkpoint-{self.steps.pop(0)}"))
