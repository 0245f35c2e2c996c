import os

os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import lightning.pytorch as pl
import torch

from churn.callbacks import BestExport
from churn.data import ChurnData
from churn.model import Churn


if __name__ == "__main__":
    pl.seed_everything(3)
    torch.set_num_threads(1)
    trainer = pl.Trainer(
        accelerator="cpu",
        devices=2,
        strategy="ddp",
        max_epochs=5,
        num_sanity_val_steps=0,
        callbacks=[BestExport("export")],
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
    )
    trainer.fit(Churn(), datamodule=ChurnData())
    if trainer.is_global_zero:
        print("done", sorted(os.listdir("export")), flush=True)
