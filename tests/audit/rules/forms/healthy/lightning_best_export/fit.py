import lightning.pytorch as pl
from torch.utils.data import DataLoader

from callbacks import KeepTopDice
from module import Segmenter


def main(train, val):
    pl.seed_everything(1, workers=True)
    trainer = pl.Trainer(
        max_epochs=100,
        accelerator="gpu",
        devices=4,
        strategy="ddp",
        precision="bf16-mixed",
        enable_checkpointing=False,
        callbacks=[KeepTopDice("exports")],
    )
    trainer.fit(
        Segmenter(),
        DataLoader(train, 2, shuffle=True, num_workers=6, pin_memory=True),
        DataLoader(val, 1, num_workers=4),
    )
