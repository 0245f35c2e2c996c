from datetime import timedelta

import lightning as L
import torch
from lightning.pytorch.strategies import DDPStrategy

from tagger import Tagger, loader


def main():
    L.seed_everything(1)
    trainer = L.Trainer(
        accelerator="cpu", devices=2, max_epochs=3, num_sanity_val_steps=0, enable_progress_bar=False, logger=False,
        enable_checkpointing=False, strategy=DDPStrategy(process_group_backend="gloo", timeout=timedelta(hours=1)),
    )
    trainer.fit(Tagger(), loader(256, True), loader(128, False))
    if trainer.is_global_zero:
        print({name: round(float(value), 3) for name, value in trainer.callback_metrics.items()}, flush=True)


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
