import lightning.pytorch as pl
import torch
import torch.nn as nn
import torch.nn.functional as F
from lightning.pytorch.loggers import CSVLogger
from torch.utils.data import DataLoader, TensorDataset

from callbacks import ConfusionDump

CLASSES = 19


class City(pl.LightningDataModule):
    def __init__(self, root, batch_size=4):
        super().__init__()
        self.root, self.batch_size = root, batch_size

    def setup(self, stage):
        self.parts = {}
        for part in ("train", "val"):
            blob = torch.load(f"{self.root}/{part}.pt", map_location="cpu")
            self.parts[part] = TensorDataset(blob["image"], blob["mask"])

    def train_dataloader(self):
        return DataLoader(self.parts["train"], self.batch_size, shuffle=True, num_workers=4)

    def val_dataloader(self):
        return DataLoader(self.parts["val"], self.batch_size, num_workers=4)


class Segmenter(pl.LightningModule):
    def __init__(self, lr=6e-5):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(
            nn.Conv2d(3, 64, 7, padding=3), nn.GroupNorm(8, 64), nn.ReLU(),
            nn.Conv2d(64, 64, 3, padding=2, dilation=2), nn.GroupNorm(8, 64), nn.ReLU(),
            nn.Conv2d(64, CLASSES, 1),
        )

    def forward(self, x):
        return self.net(x)

    def training_step(self, batch, batch_idx):
        loss = F.cross_entropy(self(batch[0]), batch[1])
        self.log("train/loss", loss)
        return loss

    def validation_step(self, batch, batch_idx):
        logits = self(batch[0])
        self.log("val/loss", F.cross_entropy(logits, batch[1]), sync_dist=True, prog_bar=True)
        return {"pred": logits.argmax(1)}

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=self.hparams.lr)
        return [optimizer], [torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 50)]


if __name__ == "__main__":
    pl.seed_everything(5, workers=True)
    trainer = pl.Trainer(
        accelerator="gpu", devices=4, strategy="ddp", max_epochs=50,
        logger=CSVLogger("runs", name="city"), callbacks=[ConfusionDump(CLASSES)], num_sanity_val_steps=0,
    )
    trainer.fit(Segmenter(), datamodule=City("cityscapes"))
