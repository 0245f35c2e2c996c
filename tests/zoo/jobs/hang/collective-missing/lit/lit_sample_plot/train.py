from datetime import timedelta

import lightning as L
import torch
from lightning.pytorch.strategies import DDPStrategy
from torch.utils.data import DataLoader, TensorDataset

from autoencoder import Autoencoder
from plotting import Reconstructions


def main():
    L.seed_everything(7)
    images = torch.rand(192, 64)
    trainer = L.Trainer(
        accelerator="cpu",
        devices=2,
        strategy=DDPStrategy(process_group_backend="gloo", timeout=timedelta(minutes=20)),
        max_epochs=4,
        callbacks=[Reconstructions(every=2, images=images[:16])],
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(Autoencoder(), DataLoader(TensorDataset(images), batch_size=12, shuffle=True))
    if trainer.is_global_zero:
        print("trained", trainer.current_epoch, "epochs", flush=True)


if __name__ == "__main__":
    main()
