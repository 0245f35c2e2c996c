import shutil
from pathlib import Path

import lightning.pytorch as pl


class KeepTopDice(pl.Callback):
    def __init__(self, folder, keep=3):
        self.folder = Path(folder)
        self.keep = keep
        self.kept = []

    def on_validation_end(self, trainer, pl_module):
        if trainer.sanity_checking:
            return
        score = float(trainer.callback_metrics["val/dice"])
        if len(self.kept) == self.keep and score <= self.kept[-1][0]:
            return
        path = self.folder / f"dice{score:.4f}-step{trainer.global_step}.ckpt"
        if trainer.is_global_zero:
            self.folder.mkdir(parents=True, exist_ok=True)
        trainer.save_checkpoint(path)
        self.kept = sorted(self.kept + [(score, path)], key=lambda e: -e[0])
        for _, old in self.kept[self.keep :]:
            if trainer.is_global_zero and old.exists():
                shutil.rmtree(old) if old.is_dir() else old.unlink()
        self.kept = self.kept[: self.keep]
