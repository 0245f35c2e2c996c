import warnings

import lightning as L
import torch
from torch.utils.data import DataLoader, TensorDataset

from detector import Detector

warnings.filterwarnings("ignore")


def scenes(n=640):
    g = torch.Generator().manual_seed(14)
    x = torch.randn(n, 10, generator=g)
    target = (x[:, 0] > 1.3).float()
    return TensorDataset(x, target, x[:, 1:5].abs())


if __name__ == "__main__":
    L.seed_everything(1)
    trainer = L.Trainer(max_epochs=3, accelerator="cpu", devices=2, strategy="ddp", logger=False,
                        enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(Detector(), DataLoader(scenes(), batch_size=16, shuffle=True))
    print("finished", trainer.global_step)
