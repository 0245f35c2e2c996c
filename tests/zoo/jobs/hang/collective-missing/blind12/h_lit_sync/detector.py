import lightning as L
import torch
from torch import nn


class Detector(L.LightningModule):
    def __init__(self, lr=1e-3):
        super().__init__()
        self.save_hyperparameters()
        self.trunk = nn.Sequential(nn.Linear(10, 32), nn.ReLU())
        self.cls, self.box = nn.Linear(32, 1), nn.Linear(32, 4)

    def losses(self, x, target, box):
        h = self.trunk(x)
        cls = nn.functional.binary_cross_entropy_with_logits(self.cls(h).squeeze(1), target)
        positive = target > 0.5
        error = (self.box(h) - box).abs().mean(1)
        return cls, error, positive

    def training_step(self, batch, idx):
        cls, error, positive = self.losses(*batch)
        reg = (error * positive).sum() / positive.sum().clamp(min=1)
        self.log("train/cls", cls)
        self._log_regression(error, positive)
        return cls + reg

    def _log_regression(self, error, positive):
        if positive.any():
            self.log("train/box_mae", error[positive].mean(), on_step=True, sync_dist=True)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.hparams.lr)
