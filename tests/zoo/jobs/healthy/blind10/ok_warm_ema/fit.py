import warnings

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from callbacks import Average

warnings.filterwarnings("ignore")


class Task(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(9, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 1))

    def training_step(self, batch, _):
        return nn.functional.mse_loss(self.net(batch[0]), batch[1])

    def validation_step(self, batch, _):
        self.log("valid", nn.functional.mse_loss(self.net(batch[0]), batch[1]), sync_dist=True)

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=5e-3)
        total = self.trainer.estimated_stepping_batches
        warm = total // 10
        scale = torch.optim.lr_scheduler.LambdaLR(
            optimizer, lambda s: s / warm if s < warm else max(0.0, (total - s) / (total - warm)))
        return [optimizer], [{"scheduler": scale, "interval": "step"}]


def main():
    L.seed_everything(3)
    x = torch.randn(2200, 9)
    y = x[:, :1] * x[:, 1:2] + x[:, 2:3]
    train, valid = TensorDataset(x[:2000], y[:2000]), TensorDataset(x[2000:], y[2000:])
    trainer = L.Trainer(accelerator="cpu", devices=2, strategy="ddp", max_epochs=3, logger=False, callbacks=[Average()],
                        enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(Task(), DataLoader(train, batch_size=20, shuffle=True), DataLoader(valid, batch_size=50))
    if trainer.is_global_zero:
        print("steps", trainer.global_step, "valid", float(trainer.callback_metrics["valid"]), flush=True)


if __name__ == "__main__":
    main()
