from pathlib import Path

from lightning.pytorch.callbacks import Callback
from lightning.pytorch.utilities import rank_zero_only


class ExportEvery(Callback):
    def __init__(self, folder, every):
        self.folder, self.every = Path(folder), every

    @rank_zero_only
    def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):
        step = trainer.global_step
        if step % self.every == 0:
            self.folder.mkdir(parents=True, exist_ok=True)
            trainer.save_checkpoint(self.folder / f"step{step}.ckpt")
