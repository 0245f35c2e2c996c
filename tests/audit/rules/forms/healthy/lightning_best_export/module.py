import lightning.pytorch as pl
import torch
from torch import nn


def soft_dice(logits, mask):
    p = logits.sigmoid().flatten(1)
    m = mask.flatten(1)
    return ((2 * (p * m).sum(1) + 1) / (p.sum(1) + m.sum(1) + 1)).mean()


class Segmenter(pl.LightningModule):
    def __init__(self, width=32, lr=1e-3):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(
            nn.Conv3d(1, width, 3, padding=1), nn.InstanceNorm3d(width), nn.LeakyReLU(),
            nn.Conv3d(width, width, 3, padding=1), nn.InstanceNorm3d(width), nn.LeakyReLU(),
            nn.Conv3d(width, 1, 1),
        )

    def forward(self, x):
        return self.net(x)

    def training_step(self, batch, _):
        x, m = batch
        logits = self(x)
        loss = nn.functional.binary_cross_entropy_with_logits(logits, m) + 1 - soft_dice(logits, m)
        self.log("train/loss", loss)
        return loss

    def validation_step(self, batch, _):
        x, m = batch
        self.log("val/dice", soft_dice(self(x), m), on_epoch=True, sync_dist=True)

    def configure_optimizers(self):
        opt = torch.optim.AdamW(self.parameters(), lr=self.hparams.lr)
        return {"optimizer": opt, "lr_scheduler": torch.optim.lr_scheduler.CosineAnnealingLR(opt, 100)}
