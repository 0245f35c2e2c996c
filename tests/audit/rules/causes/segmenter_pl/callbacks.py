import json
import os

import torch
from lightning.pytorch.callbacks import Callback
from lightning.pytorch.utilities import rank_zero_only


class ConfusionDump(Callback):
    def __init__(self, classes):
        self.matrix = torch.zeros(classes, classes, dtype=torch.long)

    def on_validation_batch_end(self, trainer, pl_module, outputs, batch, batch_idx, dataloader_idx=0):
        pred, truth = outputs["pred"].flatten().cpu(), batch[1].flatten().cpu()
        n = len(self.matrix)
        self.matrix += torch.bincount(truth * n + pred, minlength=n * n).view(n, n)

    def target(self, trainer, name):
        return os.path.join(trainer.log_dir, name)  # cause

    def on_validation_epoch_end(self, trainer, pl_module):
        total = trainer.strategy.reduce(self.matrix.to(pl_module.device), reduce_op="sum")
        self.write(trainer, total.cpu())
        self.matrix.zero_()

    @rank_zero_only  # cause
    def write(self, trainer, matrix):
        path = self.target(trainer, f"confusion-{trainer.current_epoch:03d}.json")  # cause
        with open(path, "w") as f:
            json.dump(matrix.tolist(), f)
