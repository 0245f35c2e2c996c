import lightning.pytorch as pl


class BestExport(pl.Callback):
    """Keeps a checkpoint of the best epoch."""

    def __init__(self, folder):
        self.folder = folder
        self.best = float("inf")

    def on_validation_end(self, trainer, module):
        if module.val_loss >= self.best:
            return
        self.best = module.val_loss
        trainer.save_checkpoint(f"{self.folder}/best.ckpt")
