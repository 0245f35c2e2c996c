import lightning as L
import torch
import torch.nn.functional as F
from torch import nn


class Classifier(L.LightningModule):
    def __init__(self, dim=24, classes=5, lr=3e-3):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(nn.Linear(dim, 128), nn.ReLU(), nn.Linear(128, classes))

    def training_step(self, batch, _):
        x, y = batch
        return F.cross_entropy(self.net(x), y)

    def _report(self, stage, logits, y):
        hit = (logits.argmax(1) == y).float()
        self.log(f"{stage}/acc", hit.mean(), sync_dist=True)
        for c in y.unique().tolist():
            self.log(f"{stage}/acc_{c}", hit[y == c].mean(), sync_dist=True, batch_size=int((y == c).sum()))

    def validation_step(self, batch, _):
        x, y = batch
        self._report("val", self.net(x), y)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.hparams.lr)
