import json
import os
import time

import torch


class Exporter:
    """Keeps the weights and a small manifest for the serving team."""

    def __init__(self, folder, every):
        self.folder, self.every = folder, every
        os.makedirs(folder, exist_ok=True)

    def due(self, step):
        return step > 0 and step % self.every == 0

    def __call__(self, step, model, opt):
        if not self.due(step):  # cause
            return
        target = os.path.join(self.folder, "model.pt")
        torch.save({"model": model.module.state_dict(), "opt": opt.state_dict(), "step": step}, target)  # cause
        with open(os.path.join(self.folder, "manifest.json"), "w") as fh:  # cause
            json.dump({"step": step, "at": time.time(), "file": target}, fh)
