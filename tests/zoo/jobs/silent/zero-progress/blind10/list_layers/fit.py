import warnings

import lightning as L
import torch
from torch.utils.data import DataLoader, TensorDataset

from model import Regressor

warnings.filterwarnings("ignore")


def data():
    g = torch.Generator().manual_seed(0)
    x = torch.randn(2048, 10, generator=g)
    y = (x[:, :1] * x[:, 1:2]).sin() + x[:, 2:3].abs()
    return TensorDataset(x, y)


def main():
    trainer = L.Trainer(
        accelerator="cpu", devices=2, strategy="ddp", max_epochs=2, logger=False,
        enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
    )
    trainer.fit(Regressor(), DataLoader(data(), batch_size=16, shuffle=True))
    if trainer.is_global_zero:
        print("steps", trainer.global_step, "loss", float(trainer.callback_metrics["loss"]), flush=True)


if __name__ == "__main__":
    main()
