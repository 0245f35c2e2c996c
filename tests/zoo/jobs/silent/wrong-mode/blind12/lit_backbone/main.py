import logging
import tempfile
import warnings

import lightning as L
import torch
from lightning.pytorch.callbacks import Callback
from torch.utils.data import DataLoader, TensorDataset

from model import Backbone, Classifier

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.WARNING)


class Shapes(L.LightningDataModule):
    def setup(self, stage=None):
        g = torch.Generator().manual_seed(2)
        centres = torch.randn(5, 20, generator=g) * 1.2
        y = torch.randint(0, 5, (1536,), generator=g)
        x = centres[y] + torch.randn(1536, 20, generator=g)
        x = x * 3 + 4
        self.train, self.val = TensorDataset(x[:1280], y[:1280]), TensorDataset(x[1280:], y[1280:])

    def train_dataloader(self):
        return DataLoader(self.train, 32, shuffle=True)

    def val_dataloader(self):
        return DataLoader(self.val, 64)


class Report(Callback):
    def on_validation_end(self, trainer, module):
        if not trainer.sanity_checking:
            print(f"epoch {trainer.current_epoch} val_acc {trainer.callback_metrics['val_acc']:.3f}", flush=True)


def main():
    L.seed_everything(4)
    path = tempfile.mkdtemp() + "/backbone.pt"
    torch.save(Backbone().state_dict(), path)
    trainer = L.Trainer(max_epochs=6, accelerator="cpu", devices=1, logger=False, enable_checkpointing=False,
                        enable_progress_bar=False, enable_model_summary=False, callbacks=[Report()])
    trainer.fit(Classifier(path), Shapes())


if __name__ == "__main__":
    main()
