from pathlib import Path

import torch


class Keeper:
    def __init__(self, folder, every=2):
        self.folder = Path(folder)
        self.every = every

    def after_epoch(self, trainer, epoch):
        if epoch % self.every == 0:
            self._write(trainer, self.folder / f"epoch{epoch}.pt")

    def _write(self, trainer, path):
        torch.save({"model": trainer.model.module.state_dict(), "epoch": trainer.epoch}, path)  # cause
