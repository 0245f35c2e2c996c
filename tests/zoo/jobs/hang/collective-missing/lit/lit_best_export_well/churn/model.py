import lightning.pytorch as pl
import torch
from torch import nn


class Churn(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
        self.val_losses = []

    def loss(self, batch):
        x, y = batch
        return nn.functional.binary_cross_entropy_with_logits(self.net(x).squeeze(1), y)

    def training_step(self, batch, index):
        return self.loss(batch)

    def on_validation_epoch_start(self):
        self.val_losses.clear()

    def validation_step(self, batch, index):
        self.val_losses.append(self.loss(batch).item())

    @property
    def val_loss(self):
        return sum(self.val_losses) / len(self.val_losses)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=0.01)
