import lightning as L
import torch
from pathlib import Path
from lightning.pytorch.utilities import rank_zero_only


class SaveSamples(L.Callback):
    @rank_zero_only
    def on_validation_epoch_end(self, trainer, module):
        folder = Path(trainer.log_dir) / "samples"
        folder.mkdir(exist_ok=True)
        torch.save(module.samples, folder / f"{trainer.current_epoch}.pt")


def main(module, data):
    trainer = L.Trainer(devices=4, strategy="ddp", callbacks=[SaveSamples()])
    trainer.fit(module, data)
