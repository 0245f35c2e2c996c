import pytorch_lightning as pl
import torch


def save(args, trainer, weights, path):
    if "stage_3" in args.strategy:
        trainer.save_checkpoint(path, weights_only=True)
    else:
        torch.save(weights, path)


class Saves(pl.Callback):
    def __init__(self, args):
        self.args = args

    def on_train_epoch_end(self, trainer, module):
        args = self.args
        if trainer.is_global_zero or "stage_3" in args.strategy:
            save(args, trainer, module.state_dict(), "last.pth")
