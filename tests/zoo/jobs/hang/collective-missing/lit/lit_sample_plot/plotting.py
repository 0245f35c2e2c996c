import json
from pathlib import Path

import lightning as L
import torch


class Reconstructions(L.Callback):
    """Writes some reconstructions and how good they are, every few epochs."""

    def __init__(self, every, images, folder="plots"):
        self.every = every
        self.images = images
        self.folder = Path(folder)

    def on_train_epoch_end(self, trainer, module):
        if (trainer.current_epoch + 1) % self.every:
            return
        if trainer.is_global_zero:
            self.write(trainer, module)

    @torch.no_grad()
    def write(self, trainer, module):
        module.eval()
        made = module(self.images)
        module.train()
        error = self.mean_error(module, made)
        self.folder.mkdir(exist_ok=True)
        path = self.folder / f"epoch{trainer.current_epoch}.json"
        path.write_text(json.dumps({"error": error, "pixels": made[0, :8].tolist()}))

    def mean_error(self, module, made):
        error = (made - self.images).abs().mean()
        return module.all_gather(error).mean().item()
