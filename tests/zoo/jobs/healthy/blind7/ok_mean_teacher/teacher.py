import copy

import lightning as L
import torch
import torch.nn.functional as F
from torch import nn


def network():
    return nn.Sequential(nn.Linear(12, 48), nn.BatchNorm1d(48), nn.ReLU(), nn.Dropout(0.2), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 3))


class MeanTeacher(L.LightningModule):
    """A student learns labels and agrees with a teacher, which is its own average in time."""

    def __init__(self, lr=3e-3, momentum=0.98, ramp=30):
        super().__init__()
        self.save_hyperparameters()
        self.student = network()
        self.teacher = copy.deepcopy(self.student).requires_grad_(False)

    def training_step(self, batch, _):
        x, y, labelled = batch
        logits = self.student(x + 0.2 * torch.randn_like(x))
        with torch.no_grad():
            target = self.teacher(x + 0.2 * torch.randn_like(x)).softmax(1)
        weight = min(1.0, self.global_step / self.hparams.ramp)
        supervised = (F.cross_entropy(logits, y, reduction="none") * labelled).sum() / labelled.sum().clamp_min(1)
        loss = supervised + weight * F.mse_loss(logits.softmax(1), target)
        self.log("train_loss", loss)
        return loss

    def on_train_batch_end(self, *_):
        with torch.no_grad():
            for t, s in zip(self.teacher.parameters(), self.student.parameters()):
                t.lerp_(s, 1 - self.hparams.momentum)

    def validation_step(self, batch, _):
        x, y = batch
        self.log("val_acc", (self.teacher(x).argmax(1) == y).float().mean(), prog_bar=True)

    def configure_optimizers(self):
        return torch.optim.Adam(self.student.parameters(), lr=self.hparams.lr)
