import tempfile

import torch
from lightning.pytorch import Callback, LightningModule, Trainer
from lightning.pytorch.callbacks import EarlyStopping
from lightning.pytorch.utilities import rank_zero_only
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from picture import draw


class Net(LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 24), nn.Tanh(), nn.Linear(24, 1))

    def training_step(self, batch, index):
        x, y = batch
        return nn.functional.mse_loss(self.net(x), y)

    def validation_step(self, batch, index):
        x, y = batch
        self.log("val", nn.functional.mse_loss(self.net(x), y), sync_dist=True)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=2e-2)


class Pictures(Callback):
    @rank_zero_only
    def on_validation_epoch_end(self, trainer, module):
        try:
            draw(module)
        except ImportError as error:
            print(f"no picture: {error}", flush=True)


def data(seed):
    x = torch.randn(160, 6, generator=torch.Generator().manual_seed(seed))
    return DataLoader(TensorDataset(x, x[:, :1]), batch_size=16)


if __name__ == "__main__":
    torch.manual_seed(0)
    trainer = Trainer(accelerator="cpu", devices=2, strategy="ddp", max_epochs=30, logger=False,
                      enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
                      default_root_dir=tempfile.mkdtemp(),
                      callbacks=[Pictures(), EarlyStopping("val", patience=2, min_delta=0.01)])
    trainer.fit(Net(), data(0), data(1))
    print(f"rank {trainer.global_rank} stopped after epoch {trainer.current_epoch}")
