"""The hook runs on rank 0 alone, and what it calls gathers from all."""
import lightning as L
import torch
from lightning.pytorch.utilities import rank_zero_only


class Model(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(8, 2)
        self.outputs = []

    def validation_step(self, batch, i):
        self.outputs.append(self.net(batch).mean(0))

    def mean_output(self):
        return self.all_gather(torch.stack(self.outputs)).mean()

    @rank_zero_only  # cause
    def on_validation_epoch_end(self):
        value = self.mean_output()  # cause
        self.logger.experiment.add_scalar("mean", value)
        self.outputs.clear()
